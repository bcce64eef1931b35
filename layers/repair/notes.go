package repair

import (
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs/repair"
)

// The notes of a deletion, in which one damaged byte is corrected.
const (
	sealsNote   = "forgotten.json"
	pendingNote = "forgetting.json"
)

// notes rewrites notes of a deletion with more than one damaged byte. The note of a running deletion is rebuilt from
// local data. The list of forgotten data cannot be rebuilt: with Forget, its lost entries are dropped.
func notes(db *state.DB, ro RepairOptions, out *Repaired) error {
	for i := range out.Fixes {
		d := &out.Fixes[i]
		if d.Done != "" {
			continue
		}
		var err error
		switch {
		case d.Where == pendingNote:
			d.Done = "rewritten for all projects"
			if !ro.DryRun {
				d.Kept, err = forget.RenewPending(db)
			}
		case d.Where == sealsNote && ro.Forget:
			var n int
			n, d.Kept, err = originals.RenewSeals(db, ro.DryRun)
			d.Done = fmt.Sprintf("restarted with the %d readable entries", n)
		}
		if err != nil {
			return fmt.Errorf("repair %s: %w", d.Where, err)
		}
	}
	out.Unsealed = slices.ContainsFunc(out.Fixes, func(d repair.Fix) bool {
		return d.Where == sealsNote && d.Done == ""
	})
	return nil
}
