package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// ErrNoSweep means that only the remote itself can delete its unreachable objects.
var ErrNoSweep = errors.New("only its server can delete it")

// Sweep deletes the unreachable objects of a remote in a directory and the temporary files of killed pushes. It waits
// for running pushes and can be repeated after an interruption. It returns the commits of former that are still there,
// because a branch or tag contains them. The error wraps [ErrNoSweep] if the remote is not a directory.
func (c *Client) Sweep(ctx context.Context, former []pack.ID) (left []pack.ID, err error) {
	if !c.Directory() {
		return nil, ErrNoSweep
	}
	g, err := gitstore.Open(c.url.Path)
	if errors.Is(err, gitstore.ErrNoRepository) {
		return nil, fmt.Errorf("%s: %w: %w", c.url, ErrAbsent, err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	unlock, err := refs.Shared{Repo: g, Timeout: c.world.LockTimeout}.Exclude(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := sweepKilled(g.PackDir()); err != nil {
		return nil, err
	}
	live, err := lane.Reachable(ctx, g)
	if err != nil {
		return nil, err
	}
	others, err := g.OtherRefs()
	for _, ref := range others {
		if e := lane.AddReachable(ctx, g, ref.ID, live); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", ref.Name, e))
		}
	}
	if err != nil {
		return nil, err
	}
	stays := func(id pack.ID) bool { _, ok := live[id]; return ok }
	if err := refs.DropFrom(g, "mem-"+c.world.Mark, stays); err != nil {
		return nil, err
	}
	for _, id := range former {
		if stays(id) {
			left = append(left, id)
		}
	}
	return left, nil
}

// Directory reports whether the remote is a directory.
func (c *Client) Directory() bool { return c.url.Scheme == "file" }

// sweepKilled removes the temporary files of killed pushes. No push may be running.
func sweepKilled(packs string) error {
	marks, err := pack.Marks(packs)
	for _, mark := range marks {
		err = errors.Join(err, pack.Sweep(packs, mark))
	}
	return errors.Join(err, pack.SweepIndexes(packs))
}
