package refs

import (
	"context"
	"fmt"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

// DropDevice deletes every branch of another device in both repositories. [Repo.Sweep] deletes the objects. It can be
// repeated after an interruption.
func (r *Repo) DropDevice(ctx context.Context, device string) error {
	unlock, err := r.lockExclusive(ctx)
	if err != nil {
		return disk.AsWriteError(fmt.Errorf("drop device %s: %w", device, err))
	}
	defer unlock()
	for _, g := range []*gitstore.Repo{r.memory, r.originals} {
		names, err := g.RegisteredRefs() // includes missing branches, which are then no longer expected
		if err != nil {
			return err
		}
		all, err := g.Refs(lane.Prefix)
		if err != nil {
			return fmt.Errorf("list lanes: %w", err)
		}
		outside, err := g.Refs(lane.OutsidePrefix)
		if err != nil {
			return fmt.Errorf("list lanes: %w", err)
		}
		for _, ref := range append(all, outside...) {
			names = append(names, ref.Name)
		}
		for _, name := range names {
			if l, ok := lane.ParseLocalRef(name); !ok || l.Device != device || l.Project == Home {
				continue
			}
			if err := g.Remove(ctx, name); err != nil {
				return disk.AsWriteError(fmt.Errorf("drop device %s: %w", device, err))
			}
		}
	}
	return nil
}
