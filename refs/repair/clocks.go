package repair

import (
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// FixClocks restarts the lanes of this device that other stores refuse because of their Lamport times
// ([refs.ErrAhead]). Records with a time in the future get the next acceptable ones, in the same order, and therefore
// new names. With dryRun it only returns the fixes that it would make.
func FixClocks(ctx context.Context, r *refs.Repo, dryRun bool) (fixes []Fix, err error) {
	all, err := r.Git().Refs(lane.Prefix)
	if err != nil {
		return nil, fmt.Errorf("list lanes: %w", err)
	}
	for _, ref := range all {
		p, device, ok := lane.SplitRef(ref.Name)
		if !ok || device != r.Device().ID {
			continue
		}
		err := r.CheckClock(refs.Lane{Project: p, Device: device})
		ahead := errors.Is(err, refs.ErrAhead)
		if err != nil && !ahead {
			return fixes, err
		}
		refused, err := refusedPatches(ctx, r, p)
		if err != nil {
			return fixes, err
		}
		if !ahead && !refused {
			continue
		}
		if !dryRun {
			if err := r.FixClock(ctx, p, ahead); err != nil {
				return fixes, fmt.Errorf("repair the Lamport times of %s: %w", ref.Name, err)
			}
		}
		fixes = append(fixes, Fix{Where: refs.MemoryDir + "/" + ref.Name, What: refs.ErrAhead.Error(),
			Done: "restarted with Lamport times that other stores accept"})
	}
	return fixes, nil
}

// refusedPatches reports whether a commit of this device's lane in originals.git has a Lamport time that other stores
// refuse.
func refusedPatches(ctx context.Context, r *refs.Repo, p refs.Project) (bool, error) {
	originals := r.GitOf(refs.Lane{Originals: true})
	tip, err := originals.Ref(lane.Ref(p, r.Device().ID))
	if err != nil {
		return false, err
	}
	for c, err := range lane.Ancestors(ctx, originals, tip) {
		if err != nil {
			return false, err
		}
		n, err := lane.LamportOf(c.Commit)
		if err != nil {
			return false, err
		}
		if !r.AcceptsLamport(n) {
			return true, nil
		}
	}
	return false, nil
}
