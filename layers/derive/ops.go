// Package derive makes versions and compositions: compress, compose, summarise by age, and rebuild.
package derive

import "github.com/memvcs/mem/layers/state"

// Ops are the operations of this package on a store.
type Ops struct {
	*state.DB
	kept *Previews // nil: nothing is kept
}

// On returns the operations on db.
func On(db *state.DB) Ops { return Ops{DB: db} }

// Keeping returns the operations with dry runs of compressions that use and fill kept.
func (m Ops) Keeping(kept *Previews) Ops { return Ops{m.DB, kept} }
