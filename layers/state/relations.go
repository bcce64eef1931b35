package state

import (
	"github.com/memvcs/mem/layers/records"
)

// relationCell returns the cell of a relation.
func relationCell(b records.RelationBody) Cell {
	value := func(b records.RelationBody) string {
		if b.Removed {
			return "removed"
		}
		return b.Reason
	}
	was := records.RelationBody{Session: b.Session, To: b.To, Removed: true}
	return Cell{
		Slot: "relation/" + b.Slot(), What: "relation of " + records.ShortID(b.Session), Value: value(b),
		Restore: Statement{records.KindRelation, b},
		Empty:   emptyCell{value(was), Statement{records.KindRelation, was}},
	}
}
