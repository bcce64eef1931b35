package layers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/refs"
)

// Undoing is saying something again. Every record that can be taken back speaks of a slot: the "deleted" of a version, the
// weight of a marker, the state of a composition. What a slot says follows from the last record that speaks of it, so an
// operation is undone by records that say what the slots said before it. Nothing is deleted, and undoing an undo is the same act.

// A statement is a record to write.
type statement struct {
	kind string
	body any
}

// A cell is what one record says of a slot.
type cell struct {
	slot  string
	what  string // of what it speaks, for people
	says  string // two cells of a slot that say the same are as good as each other
	stamp stamp
	again statement // says it again
	none  cellNone  // what there was before anything spoke of the slot
}

// cellNone is the slot when no record spoke of it.
type cellNone struct {
	says  string
	again statement
}

// cells returns what a record says of slots; none if it cannot be taken back.
func (st *State) cells(r refs.Record) ([]cell, error) {
	var out []cell
	var err error
	switch r.Kind {
	case kindSet:
		err = applyTo(r, func(b setBody) { out = st.setCells(b) })
	case kindKeepit:
		err = applyTo(r, func(b Override) { out = []cell{st.keepitCell(b)} })
	case kindVersion:
		err = applyTo(r, func(b Version) {
			c := deletedCell("version/"+r.ID.String(), ShortID(b.Session)+":"+b.Label, false)
			c.none = cellNone{"deleted", statement{kindSet, setBody{"version/" + r.ID.String(), "deleted", true}}}
			out = []cell{c}
		})
	case kindComposition:
		err = applyTo(r, func(b Composition) {
			c := deletedCell("composition/"+b.Name, b.Name, true)
			c.none = cellNone{c.says, c.again}
			c.says, c.again = string(r.Body), statement{kindComposition, json.RawMessage(r.Body)}
			out = []cell{c}
		})
	case kindRevoke:
		err = applyTo(r, func(b revokeBody) { out = []cell{revokeCell(b)} })
	case facts.KindJudgement:
		err = applyTo(r, func(b facts.Judgement) { out = []cell{judgementCell(b)} })
	case facts.KindExchange:
		err = applyTo(r, func(b facts.Exchange) { out = exchangeCells(b) })
	default:
		out, err = lastingCells(r)
	}
	for i := range out {
		out[i].stamp = stampOf(r)
	}
	return out, err
}

// setCells are the cells of an assignment. That of a composition says the same as having none.
func (st *State) setCells(b setBody) []cell {
	if b.Field != "deleted" {
		return nil
	}
	what := b.Target
	kind, name, _ := strings.Cut(b.Target, "/")
	switch kind {
	case "session":
		what = ShortID(name)
	case "composition":
		what = name
	case "version":
		for _, v := range st.Versions {
			if v.ID.String() == name {
				what = ShortID(v.Session) + ":" + v.Label
			}
		}
	}
	return []cell{deletedCell(b.Target, what, b.Value)}
}

func deletedCell(target, what string, deleted bool) cell {
	says := map[bool]string{true: "deleted", false: "there"}
	body := func(v bool) statement { return statement{kindSet, setBody{target, "deleted", v}} }
	return cell{slot: "set/" + target, what: what, says: says[deleted], again: body(deleted), none: cellNone{says[false], body(false)}}
}

// keepitCell is the cell of a word on a marker. Before the first one there was what was typed, or nothing.
func (st *State) keepitCell(o Override) cell {
	slot := o
	slot.Weight, slot.Removed = 0, false
	says := func(o Override) string {
		if o.Removed {
			return "removed"
		}
		return o.Weight.String()
	}
	was := o
	was.Removed = o.Added
	if s := st.session(o.Session); s != nil && !o.Added {
		for _, p := range s.Points {
			for _, k := range p.Markers {
				if p.Generation == o.Generation && k.N == o.Message && k.Start <= o.Start && o.End <= k.End {
					was.Weight = k.Weight
				}
			}
		}
	}
	return cell{
		slot: fmt.Sprintf("keepit/%v", slot), what: fmt.Sprintf("marker of %s#%d", ShortID(o.Session), o.Message),
		says: says(o), again: statement{kindKeepit, o}, none: cellNone{says(was), statement{kindKeepit, was}},
	}
}

// judgementCell is the cell of a word on a fact.
func judgementCell(j facts.Judgement) cell {
	says := func(j facts.Judgement) string { return fmt.Sprint(j.Value, " ", j.By, " ", j.Keywords, " ", j.Files) }
	was := facts.Judgement{Fact: j.Fact, Says: j.Says}
	return cell{
		slot: "fact/" + j.Fact.String() + "/" + j.Says, what: "f:" + j.Fact.Short(),
		says: says(j), again: statement{facts.KindJudgement, j}, none: cellNone{says(was), statement{facts.KindJudgement, was}},
	}
}

// exchangeCells are the cells of facts that were stated: until then they were as good as removed.
func exchangeCells(x facts.Exchange) []cell {
	var out []cell
	for _, f := range x.Bare().Facts {
		f.Session = x.Session
		c := judgementCell(facts.Judgement{Fact: f.Key(), Says: facts.Removes})
		gone := judgementCell(facts.Judgement{Fact: f.Key(), Says: facts.Removes, Value: true})
		c.none = cellNone{gone.says, gone.again}
		out = append(out, c)
	}
	return out
}

// A timeline is what the records of a project say of each slot, in their order.
type timeline map[string][]cell

// add adds a cell and returns it. That a composition is there again says what its newest state said.
func (t timeline) add(c cell) cell {
	if strings.HasPrefix(c.slot, "set/composition/") && c.says == "there" {
		for _, x := range slices.Backward(t[c.slot]) {
			if x.again.kind == kindComposition {
				c.says, c.again = x.says, x.again
				break
			}
		}
	}
	t[c.slot] = append(t[c.slot], c)
	return c
}

// last returns the cell that holds now.
func (t timeline) last(slot string) cell { return t[slot][len(t[slot])-1] }

// before returns the last cell of a slot that an operation did not bring itself, before those that it did.
func (t timeline) before(slot string, brought func(stamp) bool) (cell, bool) {
	var found cell
	ok := false
	for _, c := range t[slot] {
		if brought(c.stamp) {
			break
		}
		found, ok = c, true
	}
	return found, ok
}

// again returns what says once more what c says. That a composition is there is said by taking back its only removal, so
// that its earlier states come back too; otherwise by its text.
func (t timeline) again(c cell) statement {
	name, isComposition := strings.CutPrefix(c.slot, "set/composition/")
	if !isComposition || c.again.kind != kindComposition || t.last(c.slot).says != "deleted" {
		return c.again
	}
	removals := 0
	for _, x := range t[c.slot] {
		if x.says == "deleted" {
			removals++
		}
	}
	if removals == 1 {
		return statement{kindSet, setBody{"composition/" + name, "deleted", false}}
	}
	return c.again
}
