package repair

import (
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs/repair"
)

// sealsNote is the list of forgotten data, in which one damaged byte is corrected.
const sealsNote = "forgotten.json"

// notes restarts the list of forgotten data if more than one byte is damaged and Forget is set: its lost entries are dropped.
func notes(db *state.DB, ro RepairOptions, out *Repaired) error {
	for i := range out.Fixes {
		d := &out.Fixes[i]
		if d.Done != "" {
			continue
		}
		if d.Where == sealsNote && ro.Forget {
			n, kept, err := originals.RenewSeals(db, ro.DryRun)
			if err != nil {
				return fmt.Errorf("repair %s: %w", d.Where, err)
			}
			d.Kept, d.Done = kept, fmt.Sprintf("restarted with the %d readable entries", n)
		}
	}
	out.Unsealed = slices.ContainsFunc(out.Fixes, func(d repair.Fix) bool {
		return d.Where == sealsNote && d.Done == ""
	})
	return nil
}
