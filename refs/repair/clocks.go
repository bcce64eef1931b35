package repair

import (
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// MendClocks lets the lanes of this device that other stores refuse for their Lamport times ([refs.ErrAhead]) begin
// anew: records whose times are too late get the next ones that others take, in the same order, and with them
// new names. With dryRun it says what it would do.
func MendClocks(ctx context.Context, r *refs.Repo, dryRun bool) (did []Mending, err error) {
	all, err := r.Git().Refs(lane.Prefix)
	if err != nil {
		return nil, fmt.Errorf("list lanes: %w", err)
	}
	for _, ref := range all {
		p, device, ok := lane.Split(ref.Name)
		if !ok || device != r.Device().ID {
			continue
		}
		err := r.CheckClock(refs.Lane{Project: p, Device: device})
		late, lost := latePatches(ctx, r, p)
		if err = errors.Join(err, lost); err == nil && !late {
			continue
		}
		if err != nil && !errors.Is(err, refs.ErrAhead) {
			return did, err
		}
		m := Mending{Where: refs.MemoryDir + "/" + ref.Name, What: refs.ErrAhead.Error(),
			Done: "begun anew with Lamport times that other stores take"}
		if !dryRun {
			if err := r.MendClock(ctx, p, err != nil); err != nil {
				return did, fmt.Errorf("mend the Lamport times of %s: %w", ref.Name, err)
			}
		}
		did = append(did, m)
	}
	return did, nil
}

// latePatches reports whether a commit of this device's lane in originals.git has a Lamport time that others refuse.
func latePatches(ctx context.Context, r *refs.Repo, p refs.Project) (bool, error) {
	exact := r.Of(refs.Lane{Originals: true})
	tip, err := exact.Ref(lane.Ref(p, r.Device().ID))
	if err != nil {
		return false, err
	}
	for id := tip; !id.IsZero(); {
		c, err := exact.Commit(id)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return false, err
		}
		if n, err := lane.LamportOf(c); err != nil || !r.Takes(n) {
			return err == nil, err
		}
		id = c.Parent
	}
	return false, nil
}
