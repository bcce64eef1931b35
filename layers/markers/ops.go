// Package markers lists, sets and removes markers and tells the fate of each.
package markers

import "github.com/memvcs/mem/layers/state"

// Ops are the operations of this package on a store.
type Ops struct {
	*state.DB
	tool string // that the markers come from; "" for memory
}

// On returns the operations on db.
func On(db *state.DB) Ops { return Ops{DB: db} }

// From returns the operations that say in the log that the markers come from another tool.
func (m Ops) From(tool string) Ops { return Ops{m.DB, tool} }
