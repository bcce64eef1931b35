// Package capture stores sessions: it locates their files, reads what is new, plans, stages and commits.
package capture

import "github.com/memvcs/mem/layers/state"

// Ops are the operations of this package on a store.
type Ops struct{ *state.DB }

// On returns the operations on db.
func On(db *state.DB) Ops { return Ops{db} }
