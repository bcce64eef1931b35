package refs

import (
	"context"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// Contents calls visit for all content of a lane: the message and author of each commit, every blob of its tip, and
// every stream. A lane only grows, so its tip contains the content of all its commits, and no older directory is read.
// It stops at an error of visit and returns it.
func (r *Repo) Contents(ctx context.Context, l Lane, visit func(Piece) error) error {
	tip, err := r.memory.Ref(l.LocalRef())
	if err != nil || tip.IsZero() {
		return err
	}
	o := outgoing{ctx: ctx, git: r.memory, device: l.Device, visit: visit, streams: map[objects.Hash]*grownStream{}}
	for c, err := range lane.Ancestors(ctx, r.memory, tip) {
		if err == nil {
			err = visit(messageOf(c.ID, c.Commit))
		}
		if err != nil {
			return err
		}
	}
	now, err := lane.At(r.memory, tip, l.Device)
	if err == nil {
		err = now.Root.WalkNew(r.memory, nil, nil, func(path []string, blob pack.ID) error {
			return o.blob(now, tip.String(), path, blob)
		})
	}
	if err != nil {
		return err
	}
	return o.content()
}
