package state

import (
	"github.com/memvcs/mem/layers/records"
)

func (r *StoredRelation) code(c *records.Codec) {
	records.Word(c, &r.Session)
	records.Word(c, &r.To)
	records.Word(c, &r.Reason)
	c.Bool(&r.Removed)
	r.Stamp.Code(c)
	c.Time(&r.Time)
}

// relate keeps the last word on each session and project.
func (st *State) relate(r StoredRelation) {
	if st.saidOf == nil {
		st.saidOf = map[string]int{}
		for i, x := range st.Relations {
			st.saidOf[x.Slot()] = i
		}
	}
	i, ok := st.saidOf[r.Slot()]
	switch {
	case !ok:
		st.saidOf[r.Slot()] = len(st.Relations)
		st.Relations = append(st.Relations, r)
	case r.Stamp.Compare(st.Relations[i].Stamp) > 0:
		st.Relations[i] = r
	}
}

func (st *State) orderRelations() {
	Order(st.Relations, func(a, b *StoredRelation) int { return a.Stamp.Compare(b.Stamp) })
	st.saidOf = nil
}

// relationCell is the cell of a relation. Before the first word on it there was none.
func relationCell(b records.RelationBody) Cell {
	says := func(b records.RelationBody) string {
		if b.Removed {
			return "removed"
		}
		return b.Reason
	}
	was := records.RelationBody{Session: b.Session, To: b.To, Removed: true}
	return Cell{
		Slot: "relation/" + b.Slot(), What: "relation of " + records.ShortID(b.Session), Says: says(b),
		Again: Statement{records.KindRelation, b},
		None:  cellNone{says(was), Statement{records.KindRelation, was}},
	}
}
