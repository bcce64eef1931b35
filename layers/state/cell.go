package state

import "github.com/memvcs/mem/layers/records"

// A Cell is the value of a slot in one record.
type Cell struct {
	Slot    string
	What    string // the name of the slot for display
	Value   string // the value, for comparison with other cells of the slot
	Stated  bool   // it is the user's word about a rule or a fact: only the user can take it back
	Stamp   records.Stamp
	Restore Statement // the record that sets the value again
	Empty   emptyCell // the value before the first record about the slot
}

// A Statement is a record to write.
type Statement struct {
	Kind string
	Body any
}

// An emptyCell is the value of a slot without records.
type emptyCell struct {
	Value   string
	Restore Statement
}
