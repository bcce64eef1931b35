package state

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/refs"
)

// Each record that can be undone sets the value of a slot: the "deleted" of a version, the weight of a marker, the
// state of a composition. The value of a slot is that of its last record, so an operation is undone by new records with
// the values from before it. Nothing is deleted, and an undo can be undone in the same way.

// Cells returns the values that a record sets; none if it cannot be undone.
func (st *State) Cells(r refs.Record) ([]Cell, error) {
	var out []Cell
	var err error
	switch r.Kind {
	case records.KindSet:
		err = ApplyTo(r, func(b records.SetBody) { out = st.SetCells(b) })
	case records.KindName:
		err = ApplyTo(r, func(b records.NameBody) { out = []Cell{nameCell(b)} })
	case records.KindRelation:
		err = ApplyTo(r, func(b records.RelationBody) { out = []Cell{relationCell(b)} })
	case records.KindKeepit:
		err = ApplyTo(r, func(b records.Override) { out = []Cell{st.keepitCell(b)} })
	case records.KindVersion:
		err = ApplyTo(r, func(b records.Version) {
			c := deletedCell("version/"+r.ID.String(), records.ShortID(b.Session)+":"+b.Label, false)
			c.Empty = emptyCell{"deleted", Statement{records.KindSet,
				records.SetBody{Target: "version/" + r.ID.String(), Field: "deleted", Value: true}}}
			out = []Cell{c}
		})
	case records.KindComposition:
		err = ApplyTo(r, func(b records.Composition) {
			c := deletedCell("composition/"+b.Name, b.Name, true)
			c.Empty = emptyCell{c.Value, c.Restore}
			c.Value, c.Restore = string(r.Body), Statement{records.KindComposition, json.RawMessage(r.Body)}
			out = []Cell{c}
		})
	case records.KindNote:
		err = ApplyTo(r, func(b records.Note) { out = []Cell{noteCell(r.Device, b)} })
	case records.KindRevoke:
		err = ApplyTo(r, func(b records.RevokeBody) { out = []Cell{revokeCell(b)} })
	case facts.KindJudgement:
		err = ApplyTo(r, func(b facts.Judgement) {
			c := judgementCell(b)
			c.Stated = b.Says == facts.Confirms
			out = []Cell{c}
		})
	case facts.KindExchange:
		err = ApplyTo(r, func(b facts.Exchange) { out = exchangeCells(b) })
	default:
		out, err = lastingCells(r)
	}
	for i := range out {
		out[i].Stamp = StampOf(r)
	}
	return out, err
}

// SetCells returns the cells of an assignment, none for unknown fields.
func (st *State) SetCells(b records.SetBody) []Cell {
	if b.Field != "deleted" {
		return nil
	}
	what := b.Target
	kind, name, _ := strings.Cut(b.Target, "/")
	switch kind {
	case "session":
		what = records.ShortID(name)
	case "composition":
		what = name
	case "version":
		for _, v := range st.Versions {
			if v.ID.String() == name {
				what = records.ShortID(v.Session) + ":" + v.Label
			}
		}
	}
	return []Cell{deletedCell(b.Target, what, b.Value)}
}

func deletedCell(target, what string, deleted bool) Cell {
	values := map[bool]string{true: "deleted", false: "there"}
	body := func(v bool) Statement {
		return Statement{records.KindSet, records.SetBody{Target: target, Field: "deleted", Value: v}}
	}
	return Cell{Slot: "set/" + target, What: what, Value: values[deleted], Restore: body(deleted),
		Empty: emptyCell{values[false], body(false)}}
}

// noteCell returns the cell of a note in a directory of a device. Its first value is no file.
func noteCell(device string, n records.Note) Cell {
	n.Restored, n.Modified, n.Undoes = true, time.Time{}, nil
	none := records.Note{File: n.File, Dir: n.Dir, Deleted: true, Restored: true}
	value := func(n records.Note) string {
		if n.Deleted {
			return "deleted"
		}
		return "text " + n.Text
	}
	return Cell{Slot: "note/" + device + "/" + n.Dir + "/" + n.File, What: n.File, Value: value(n),
		Restore: Statement{records.KindNote, n}, Empty: emptyCell{value(none), Statement{records.KindNote, none}}}
}

// keepitCell returns the cell of an override of a marker. Its first value is the typed marker, or none.
func (st *State) keepitCell(o records.Override) Cell {
	slot := o
	slot.Weight, slot.Removed = 0, false
	value := func(o records.Override) string {
		if o.Removed {
			return "removed"
		}
		return o.Weight.String()
	}
	was := o
	was.Removed = o.Added
	if s := st.Session(o.Session); s != nil && !o.Added {
		for _, p := range s.Points {
			for _, k := range p.Markers {
				if p.Generation == o.Generation && k.N == o.Message && k.Start <= o.Start && o.End <= k.End {
					was.Weight = k.Weight
				}
			}
		}
	}
	return Cell{
		Slot: fmt.Sprintf("keepit/%v", slot), What: fmt.Sprintf("marker of %s#%d", records.ShortID(o.Session), o.Message),
		Value: value(o), Restore: Statement{records.KindKeepit, o},
		Empty: emptyCell{value(was), Statement{records.KindKeepit, was}},
	}
}

// judgementCell returns the cell of a judgement of a fact.
func judgementCell(j facts.Judgement) Cell {
	value := func(j facts.Judgement) string {
		return fmt.Sprint(j.Value, " ", j.By, " ", j.Keywords, " ", j.Files, " ", j.Reason)
	}
	was := facts.Judgement{Fact: j.Fact, Says: j.Says}
	return Cell{
		Slot: "fact/" + j.Fact.String() + "/" + j.Says, What: "f:" + j.Fact.Short(),
		Value: value(j), Restore: Statement{facts.KindJudgement, j},
		Empty: emptyCell{value(was), Statement{facts.KindJudgement, was}},
	}
}

// exchangeCells returns the cells of new facts. Their first value is removed.
func exchangeCells(x facts.Exchange) []Cell {
	var out []Cell
	for _, f := range x.Bare().Facts {
		f.Session = x.Session
		c := judgementCell(facts.Judgement{Fact: f.Key(), Says: facts.Removes})
		gone := judgementCell(facts.Judgement{Fact: f.Key(), Says: facts.Removes, Value: true})
		c.Empty = emptyCell{gone.Value, gone.Restore}
		out = append(out, c)
	}
	return out
}

// A Timeline has the cells of a project by slot, in the order of records.
type Timeline map[string][]Cell

// Add adds a cell and returns it. The cell of a restored composition gets the value of its newest state.
func (t Timeline) Add(c Cell) Cell {
	if strings.HasPrefix(c.Slot, "set/composition/") && c.Value == "there" {
		for _, x := range slices.Backward(t[c.Slot]) {
			if x.Restore.Kind == records.KindComposition {
				c.Value, c.Restore = x.Value, x.Restore
				break
			}
		}
	}
	t[c.Slot] = append(t[c.Slot], c)
	return c
}

// Last returns the current cell of a slot.
func (t Timeline) Last(slot string) Cell { return t[slot][len(t[slot])-1] }

// Before returns the last cell of a slot before the first one of an operation.
func (t Timeline) Before(slot string, brought func(records.Stamp) bool) (Cell, bool) {
	var found Cell
	ok := false
	for _, c := range t[slot] {
		if brought(c.Stamp) {
			break
		}
		found, ok = c, true
	}
	return found, ok
}

// Restore returns the record that sets the value of c again. If a composition was removed once, the removal is undone,
// so that its earlier states are restored too; otherwise its text is stored again.
func (t Timeline) Restore(c Cell) Statement {
	name, isComposition := strings.CutPrefix(c.Slot, "set/composition/")
	if !isComposition || c.Restore.Kind != records.KindComposition || t.Last(c.Slot).Value != "deleted" {
		return c.Restore
	}
	removals := 0
	for _, x := range t[c.Slot] {
		if x.Value == "deleted" {
			removals++
		}
	}
	if removals == 1 {
		return Statement{records.KindSet, records.SetBody{Target: "composition/" + name, Field: "deleted", Value: false}}
	}
	return c.Restore
}
