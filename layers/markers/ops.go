// Package markers lists, sets and removes markers and determines their fates.
package markers

import "github.com/memvcs/mem/layers/state"

// Ops are the operations of this package on a store.
type Ops struct {
	*state.DB
	tool string // source of the markers; "" for mem
}

// On returns the operations on db.
func On(db *state.DB) Ops { return Ops{DB: db} }

// From returns operations whose log entries name another tool as the source of markers.
func (m Ops) From(tool string) Ops { return Ops{m.DB, tool} }
