package state

import (
	"context"
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/refs"
)

// lastingCells returns the cells of a record about concepts or rules.
func lastingCells(r refs.Record) (out []Cell, err error) {
	switch r.Kind {
	case concepts.Kind:
		err = ApplyTo(r, func(b concepts.Definition) { out = madeCells(r.ID.String(), b) })
	case concepts.KindAssign:
		err = ApplyTo(r, func(b concepts.Assignment) { out = []Cell{assignCell(b)} })
	case concepts.KindSet:
		err = ApplyTo(r, func(b concepts.Change) { out = []Cell{conceptCell(b)} })
	case permanent.Kind:
		err = ApplyTo(r, func(b permanent.Definition) {
			c := voidCell(r.ID.String(), "rule r:"+r.ID.Short())
			c.Stated = b.ByUser || len(b.Quotes) > 0 && !b.Derived
			out = []Cell{c}
		})
	case permanent.KindAct:
		err = ApplyTo(r, func(b permanent.Act) {
			if b.Act == permanent.Void || b.Act == permanent.Restore {
				c := voidCell(b.Rule, "rule")
				if b.Act == permanent.Void {
					c.Value, c.Restore = c.Empty.Value, c.Empty.Restore
				}
				out = []Cell{c}
				return
			}
			c := voidCell(r.ID.String(), b.Act+" "+b.Rule[:min(8, len(b.Rule))])
			c.Stated = (b.ByUser || b.Quote != nil) && (b.Act == permanent.Promote || b.Act == permanent.Retire)
			out = []Cell{c}
		})
	}
	return out, err
}

// madeCells returns the cells of a new concept. Its first value is removed. Its first name is the one that a later name
// replaces.
func madeCells(record string, m concepts.Definition) []Cell {
	there := conceptCell(concepts.Change{Concept: record, Field: "removed", Value: "false"})
	gone := conceptCell(concepts.Change{Concept: record, Field: "removed", Value: "true"})
	there.What, there.Empty = "concept "+m.Label, emptyCell{gone.Value, gone.Restore}
	out := []Cell{there}
	for _, f := range [][2]string{{"name", m.Name}, {"topic", m.Topic}, {"summary", m.Summary}} {
		c := conceptCell(concepts.Change{Concept: record, Field: f[0], Value: f[1]})
		c.Empty = emptyCell{c.Value, c.Restore}
		out = append(out, c)
	}
	return out
}

// conceptCell returns the cell of a field of a concept.
func conceptCell(b concepts.Change) Cell {
	was := concepts.Change{Concept: b.Concept, Field: b.Field}
	if b.Field == "removed" {
		was.Value = "false"
	}
	return Cell{
		Slot: "concept/" + b.Concept + "/" + b.Field, What: fmt.Sprintf("%s of concept c:%.8s", b.Field, b.Concept),
		Value: b.Value, Restore: Statement{concepts.KindSet, b},
		Empty: emptyCell{was.Value, Statement{concepts.KindSet, was}},
	}
}

// assignCell returns the cell of the concept of a member.
func assignCell(b concepts.Assignment) Cell {
	return Cell{
		Slot: "assign/" + b.Member, What: "concept of " + b.Member, Value: b.Concept,
		Restore: Statement{concepts.KindAssign, b},
		Empty:   emptyCell{"", Statement{concepts.KindAssign, concepts.Assignment{Member: b.Member}}},
	}
}

// voidCell returns the cell of a statement about a rule, which is in force unless it is void.
func voidCell(record, what string) Cell {
	counts := Statement{permanent.KindAct, permanent.Act{Rule: record, Act: permanent.Restore}}
	void := Statement{permanent.KindAct, permanent.Act{Rule: record, Act: permanent.Void}}
	return Cell{Slot: "rule/" + record, What: what, Value: "counts", Restore: counts, Empty: emptyCell{"void", void}}
}

// Families returns a function that maps a session to the name of its conversation. Sessions with the same typed message
// (forks and resumed copies) and the subagents of a session are one conversation.
func (st *State) Families() func(string) string {
	parent := map[string]string{}
	root := func(s string) string {
		for parent[s] != "" {
			s = parent[s]
		}
		return s
	}
	join := func(a, b string) {
		if a, b = root(a), root(b); a != b {
			parent[max(a, b)] = min(a, b)
		}
	}
	first := map[transcript.Key]string{}
	for _, s := range st.Sessions {
		if up := s.Parent(); up != "" {
			join(s.ID, up)
		}
		for _, p := range s.Points {
			for _, t := range p.Typed {
				if other, ok := first[t.Key]; ok {
					join(s.ID, other)
				} else {
					first[t.Key] = s.ID
				}
			}
		}
	}
	return root
}

// RuleEvidence is what one pass over the L1 of a session finds: explicit requests and corrections of the user. It is
// cached.
type RuleEvidence struct {
	Words       []permanent.Quote
	Corrections []permanent.Quote
}

// OwnEvidence adds the session to evidence, and removes words in messages that another session or mem itself wrote
// first.
func (s *Session) OwnEvidence(in RuleEvidence) RuleEvidence {
	for i := range in.Words {
		in.Words[i].Session = s.ID
	}
	for i := range in.Corrections {
		in.Corrections[i].Session = s.ID
	}
	echo := s.Echoes(s.Now())
	copied := func(w permanent.Quote) bool { return echo[w.Message] }
	in.Words, in.Corrections = slices.DeleteFunc(in.Words, copied), slices.DeleteFunc(in.Corrections, copied)
	return in
}

// UpperKinds are the kinds of records that [DB.Upper] returns: those of the layers above L1. The outline omits them;
// callers that need them fold them in their order.
var UpperKinds = []string{
	facts.KindExchange, facts.KindDistilled, facts.KindJudgement,
	concepts.Kind, concepts.KindAssign, concepts.KindSet,
	permanent.Kind, permanent.KindAct, permanent.KindReflect,
	records.KindPeer, records.KindShare, records.KindPurge,
}

// uppers are the cached records of the upper layers of a project.
type uppers struct {
	Tips    []refs.Tip
	Records []refs.Record
}

// upperVersion is the version of the cache file; another one is rebuilt. It changes with upperKinds.
const upperVersion = 10

// Upper returns the records of the upper layers of a project in their order: (lamport, device, id).
func (m *DB) Upper(ctx context.Context, p refs.Project) (out []refs.Record, err error) {
	err = m.Refs.ViewRetry(ctx, p, func(tx *refs.Tx) error {
		out, err = m.UpperAt(ctx, tx, p)
		return err
	})
	return out, err
}

// UpperAt is [DB.Upper] in a transaction.
func (m *DB) UpperAt(ctx context.Context, tx *refs.Tx, p refs.Project) ([]refs.Record, error) {
	list, err := m.upperRecords(ctx, tx, p, upperLayers)
	if err != nil || !slices.ContainsFunc(list, func(r refs.Record) bool { return r.Kind == records.KindPurge }) {
		return list, err
	}
	return m.unhidden(ctx, tx, p, list)
}

// Notes returns the records of Claude Code's notes in a project in their order. They are kept apart, because hooks read
// the upper layers and need no notes.
func (m *DB) Notes(ctx context.Context, p refs.Project) (out []refs.Record, err error) {
	err = m.Refs.ViewRetry(ctx, p, func(tx *refs.Tx) error {
		if out, err = m.upperRecords(ctx, tx, p, noteLayer); err == nil && len(out) > 0 {
			out, err = m.unhidden(ctx, tx, p, out)
		}
		return err
	})
	return out, err
}

// Undoable returns the records that [State.Cells] reads, and those of sessions without their bodies, in their order.
func (m *DB) Undoable(ctx context.Context, tx *refs.Tx, p refs.Project) ([]refs.Record, error) {
	all, err := m.upperRecords(ctx, tx, p, undoLayer)
	if err == nil && len(all) > 0 {
		all, err = m.unhidden(ctx, tx, p, all)
	}
	return all, err
}

// unhidden returns the records that no purge hides.
func (m *DB) unhidden(ctx context.Context, tx *refs.Tx, p refs.Project, list []refs.Record) ([]refs.Record, error) {
	q, err := m.purgesOf(ctx, tx, p)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(r refs.Record) bool { return q.Hides(r.Kind, StampOf(r), r.Body) }),
		nil
}

// A layerCache is a directory of the cache for the records of some kinds.
type layerCache struct {
	dir   string
	kinds []string
	bare  string // a kind of which the bodies are not needed
}

var (
	upperLayers = layerCache{dir: "upper", kinds: UpperKinds}
	noteLayer   = layerCache{dir: "notes", kinds: []string{records.KindNote}}
	undoLayer   = layerCache{dir: "undo", bare: records.KindSession, kinds: []string{
		records.KindSession, records.KindSet, records.KindName, records.KindRelation, records.KindKeepit, records.KindVersion, records.KindComposition,
		records.KindRevoke, records.KindNote, facts.KindJudgement, facts.KindExchange,
		concepts.Kind, concepts.KindAssign, concepts.KindSet, permanent.Kind, permanent.KindAct}}
)

// upperRecords returns the records of some kinds including those that purges hide.
func (m *DB) upperRecords(ctx context.Context, tx *refs.Tx, p refs.Project, of layerCache) ([]refs.Record, error) {
	tips := tx.Tips()
	file := m.CachePath(of.dir, string(p))
	u := &uppers{}
	if !ReadCache(file, upperVersion, u) {
		u = &uppers{}
	}
	if slices.Equal(u.Tips, tips) {
		return u.Records, nil
	}
	list, follows, err := recordsAfter(ctx, tx, u.Tips)
	if err != nil {
		return nil, err
	}
	if !follows {
		u.Records = nil
	}
	for _, r := range list {
		if !slices.Contains(of.kinds, r.Kind) {
			continue
		}
		if r.Kind == of.bare {
			r.Body = nil
		}
		u.Records = append(u.Records, r)
	}
	Order(u.Records, func(a, b *refs.Record) int { return a.Compare(*b) })
	u.Tips = tips
	m.WriteCache(file, upperVersion, u)
	return u.Records, nil
}

// Statements returns the records in the form from which facts, concepts and rules are folded.
func Statements(list []refs.Record) []facts.Record {
	out := make([]facts.Record, len(list))
	for i, r := range list {
		out[i] = facts.Record{Kind: r.Kind, ID: r.ID.String(), Lamport: r.Lamport, Device: r.Device, Time: r.Time, Body: r.Body}
	}
	return out
}
