// Package trust gives the state of a project without what is revoked or comes from a device that is not
// trusted.
package trust

import "github.com/memvcs/mem/layers/state"

// Ops are the operations of this package on a store.
type Ops struct{ *state.DB }

// On returns the operations on db.
func On(db *state.DB) Ops { return Ops{db} }
