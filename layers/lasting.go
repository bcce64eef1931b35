package layers

import (
	"fmt"

	"github.com/memvcs/mem/layers/concepts"
	"github.com/memvcs/mem/layers/permanent"
	"github.com/memvcs/mem/refs"
)

// lastingCells are the cells of what is said of concepts and rules.
func lastingCells(r refs.Record) (out []cell, err error) {
	switch r.Kind {
	case concepts.Kind:
		err = applyTo(r, func(b concepts.Made) { out = madeCells(r.ID.String(), b) })
	case concepts.KindAssign:
		err = applyTo(r, func(b concepts.Assigned) { out = []cell{assignCell(b)} })
	case concepts.KindSet:
		err = applyTo(r, func(b concepts.Changed) { out = []cell{conceptCell(b)} })
	case permanent.Kind:
		err = applyTo(r, func(b permanent.Made) { out = []cell{voidCell(r.ID.String(), "rule r:"+r.ID.Short())} })
	case permanent.KindAct:
		err = applyTo(r, func(b permanent.Act) {
			if b.Act == permanent.Void || b.Act == permanent.Restore {
				c := voidCell(b.Rule, "rule")
				if b.Act == permanent.Void {
					c.says, c.again = c.none.says, c.none.again
				}
				out = []cell{c}
				return
			}
			out = []cell{voidCell(r.ID.String(), b.Act+" "+b.Rule[:min(8, len(b.Rule))])}
		})
	}
	return out, err
}

// madeCells are the cells of a concept that was made: until then it was as good as removed. What it was called then is what a
// later name replaces.
func madeCells(record string, m concepts.Made) []cell {
	there := conceptCell(concepts.Changed{Concept: record, Field: "removed", Value: "false"})
	gone := conceptCell(concepts.Changed{Concept: record, Field: "removed", Value: "true"})
	there.what, there.none = "concept "+m.Label, cellNone{gone.says, gone.again}
	out := []cell{there}
	for _, f := range [][2]string{{"name", m.Name}, {"topic", m.Topic}, {"summary", m.Summary}} {
		c := conceptCell(concepts.Changed{Concept: record, Field: f[0], Value: f[1]})
		c.none = cellNone{c.says, c.again}
		out = append(out, c)
	}
	return out
}

// conceptCell is the cell of a field of a concept.
func conceptCell(b concepts.Changed) cell {
	was := concepts.Changed{Concept: b.Concept, Field: b.Field}
	if b.Field == "removed" {
		was.Value = "false"
	}
	return cell{
		slot: "concept/" + b.Concept + "/" + b.Field, what: fmt.Sprintf("%s of concept c:%.8s", b.Field, b.Concept),
		says: b.Value, again: statement{concepts.KindSet, b}, none: cellNone{was.Value, statement{concepts.KindSet, was}},
	}
}

// assignCell is the cell of where a member belongs.
func assignCell(b concepts.Assigned) cell {
	return cell{
		slot: "assign/" + b.Member, what: "concept of " + b.Member, says: b.Concept, again: statement{concepts.KindAssign, b},
		none: cellNone{"", statement{concepts.KindAssign, concepts.Assigned{Member: b.Member}}},
	}
}

// voidCell is the cell of a statement about a rule, which counts unless it is void.
func voidCell(record, what string) cell {
	counts := statement{permanent.KindAct, permanent.Act{Rule: record, Act: permanent.Restore}}
	void := statement{permanent.KindAct, permanent.Act{Rule: record, Act: permanent.Void}}
	return cell{slot: "rule/" + record, what: what, says: "counts", again: counts, none: cellNone{"void", void}}
}
