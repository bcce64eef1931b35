// Package derive creates and reproduces versions and compositions: compress, compose, and summarise by age.
package derive

import "github.com/memvcs/mem/layers/state"

// Ops are the operations of this package on a store.
type Ops struct{ *state.DB }

// On returns the operations on db.
func On(db *state.DB) Ops { return Ops{db} }
