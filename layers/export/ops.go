// Package export writes a project in file formats of other tools, such as manifest.json, facts.json and memory.md.
//
// Nothing of it is stored: a [Manifest], memory.md ([Ops.MemoryPage]) and every other [Format] are computed from the
// state of the project.
package export

import "github.com/memvcs/mem/layers/state"

// Ops are the operations of this package on a store.
type Ops struct{ *state.DB }

// On returns the operations on db.
func On(db *state.DB) Ops { return Ops{db} }
