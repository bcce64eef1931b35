// Package derive creates and reproduces versions and compositions: compress, compose, and summarise by age.
package derive

import "github.com/memvcs/mem/layers/state"

// Ops are the operations of this package on a store.
type Ops struct {
	*state.DB
	previews *Previews // nil: nothing is kept
}

// On returns the operations on db.
func On(db *state.DB) Ops { return Ops{DB: db} }

// WithPreviews returns operations whose dry runs of compressions use and fill a cache.
func (m Ops) WithPreviews(kept *Previews) Ops { return Ops{m.DB, kept} }
