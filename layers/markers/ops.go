// Package markers lists, sets and removes markers and determines their fates.
package markers

import "github.com/memvcs/mem/layers/state"

// Ops are the operations of this package on a store.
type Ops struct{ *state.DB }

// On returns the operations on db.
func On(db *state.DB) Ops { return Ops{db} }

// An Edit says how a marker is changed.
type Edit struct {
	DryRun bool
	Tool   string // from which the marker is imported; "" for mem
}
