// Package stats computes statistics: the size and growth of a store, the results of compressions, the cost of models
// and the runs of hooks. It changes nothing. The figures of a store come from one walk over its commits; those of
// sessions, versions and markers from the state of each project.
package stats

import "github.com/memvcs/mem/layers/state"

// Ops are the operations of this package on a store.
type Ops struct{ *state.DB }

// On returns the operations on db.
func On(db *state.DB) Ops { return Ops{db} }
