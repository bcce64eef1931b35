package state

import "github.com/memvcs/mem/layers/records"

// A cell is what one record says of a slot.
type Cell struct {
	Slot  string
	What  string // of what it speaks, for people
	Says  string // two cells of a slot that say the same are as good as each other
	Stamp records.Stamp
	Again Statement // says it again
	None  cellNone  // what there was before anything spoke of the slot
}

// A statement is a record to write.
type Statement struct {
	Kind string
	Body any
}

// cellNone is the slot when no record spoke of it.
type cellNone struct {
	Says  string
	Again Statement
}
