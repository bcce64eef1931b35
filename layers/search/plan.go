package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/notes"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/search/index"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A searchPlan collects the sources of an index.
type searchPlan struct {
	m     *state.DB
	ctx   context.Context
	p     refs.Project
	st    *state.State
	upper trust.UpperState
	by    []trust.Revocation
	plan  index.Plan
	at    map[string]int  // of sessions in plan
	same  sessions.Copies // that another session has
}

// newSearchPlan returns the sources of the index of a project: data that is neither hidden nor revoked.
func newSearchPlan(ctx context.Context, db *state.DB, p refs.Project) (index.Plan, error) {
	s := &searchPlan{m: db, ctx: ctx, p: p, at: map[string]int{}}
	bare, err := trust.Bare(ctx, db, p)
	if err != nil {
		return s.plan, err
	}
	projects := []refs.Project{p, refs.Home}
	for _, q := range bare.PartsFrom() {
		if strings.Trim(string(q), "0123456789abcdef") == "" {
			projects = append(projects, q)
		}
	}
	// before the rest is read, so that a change in the meantime makes it stale
	if s.plan.Key, err = searchKey(projects, currentTips(ctx, db)); err != nil {
		return s.plan, err
	}
	if s.st, err = trust.Outline(ctx, db, p); err != nil {
		return s.plan, err
	}
	s.by = trust.Revocations(s.st.Revokes)
	records, err := db.Upper(ctx, p)
	if err != nil {
		return s.plan, err
	}
	if s.upper, err = trust.Folded(ctx, db, p, records); err != nil {
		return s.plan, err
	}
	return s.plan, s.gather()
}

func (s *searchPlan) gather() error {
	if err := s.findCopies(); err != nil {
		return err
	}
	for _, x := range s.st.Sessions {
		if x.Shown() {
			if err := s.session(x); err != nil {
				return err
			}
		}
	}
	for _, v := range s.st.Versions {
		n, ok := s.at[v.Session]
		if ok && !v.Deleted && v.Revoked == "" {
			s.addDerived("v/"+v.ID.String(), n, v.Derivation.Output,
				index.Doc{Class: index.Version, Time: v.Time.Unix(), Name: v.Name()})
		}
	}
	seen := map[string]bool{}
	for _, c := range slices.Backward(s.st.Compositions) {
		if seen[c.Name] || c.Deleted || c.Revoked != "" {
			continue
		}
		seen[c.Name] = true
		s.addDerived("c/"+c.Name, -1, c.Derivation.Output,
			index.Doc{Class: index.Composition, Time: c.Time.Unix(), Name: c.Name})
	}
	s.addFacts()
	s.addKnowledge()
	return s.addNotes()
}

// findCopies finds the messages that several sessions have.
func (s *searchPlan) findCopies() (err error) {
	var group []*state.Session
	for _, x := range s.st.Sessions {
		if !x.Shown() {
			continue
		}
		if len(s.by) > 0 {
			_, err := trust.LeaveOut(s.ctx, s.m, s.p, x, x.Now().Original)
			if errors.Is(err, trust.ErrRevoked) {
				continue
			}
			if err != nil {
				return err
			}
		}
		group = append(group, x)
	}
	s.same, err = sessions.CopiesAmong(s.ctx, s.m, s.p, group)
	return err
}

// session plans a session: its messages, and the session itself.
func (s *searchPlan) session(x *state.Session) error {
	now := x.Now()
	meta := index.Session{
		ID: x.ID, Title: x.Title(), Branch: now.Scan.Branch, Parent: x.Parent(), Device: now.Stamp.Device,
		First: now.Scan.First.Unix(), Last: now.Ended().Unix(), Topics: s.topics(x.ID),
	}
	if now.Scan.First.IsZero() {
		meta.First, meta.Last = now.Time.Unix(), now.Time.Unix()
	}
	for _, k := range x.Markers() {
		meta.Marks = append(meta.Marks, index.Mark{N: k.N, Weight: int(k.Weight)})
	}
	until, capped := int64(math.MaxInt64), ""
	if now.Ahead() > 0 { // its clock was ahead
		until = now.Time.Unix()
		capped = " until " + strconv.FormatInt(until, 10)
		meta.First = min(meta.First, until)
	}
	var hidden [][2]int
	if len(s.by) > 0 {
		var err error
		if hidden, err = trust.LeaveOut(s.ctx, s.m, s.p, x, now.Original); errors.Is(err, trust.ErrRevoked) {
			return nil
		} else if err != nil {
			return err
		}
	}
	same := s.same[x.ID]
	n := len(s.plan.Sessions)
	s.at[x.ID] = n
	s.plan.Sessions = append(s.plan.Sessions, meta)
	s.addSource(index.Source{
		Name: "s/" + x.ID, Version: now.Original.String()[:32] + hiddenText(hidden) + " same" + hiddenText(same) + capped, Session: n,
		Docs: func(add func(index.Doc)) error {
			err := originals.Stream(s.ctx, s.m, s.p, now.Original, func(r io.Reader) error {
				return Transcript(r, now.Rewound, same, func(n int) bool { return !originals.Outside(n, hidden) }, func(d index.Doc) {
					d.Time = min(d.Time, until)
					add(d)
				})
			})
			return unlessMissing(err)
		},
	})
	if sessions.CopiedPrefix(same) > 0 { // its title may be that of the session it is a copy of, which is found by it
		meta.Title = ""
	}
	about := About(meta)
	s.addTexts("a/"+x.ID, n, []index.Doc{about})
	return nil
}

// addSource plans a source. Another version of the documents is another version of each source.
func (s *searchPlan) addSource(x index.Source) {
	x.Version = documentsVersion() + " " + x.Version
	s.plan.Sources = append(s.plan.Sources, x)
}

// unlessMissing returns [index.ErrIncomplete] for the error of a missing object: its text cannot be found before a
// repair, and fsck reports it.
func unlessMissing(err error) error {
	if errors.Is(err, objects.ErrNotFound) {
		return index.ErrIncomplete
	}
	return err
}

func hiddenText(spans [][2]int) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(" " + strconv.Itoa(s[0]) + "-" + strconv.Itoa(s[1]))
	}
	return b.String()
}

// topics returns the concepts of a session and the topics of its exchanges.
func (s *searchPlan) topics(session string) (out []string) {
	add := func(t string) {
		if t = strings.TrimSpace(t); t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for _, c := range s.upper.Concepts.Live() {
		if slices.Contains(c.Sessions, session) && c.Revoked == "" {
			add(c.Name)
			add(c.Topic)
		}
	}
	for _, x := range s.upper.Facts.LiveExchanges(session) {
		if x.Revoked == "" {
			add(x.Topic)
		}
	}
	return out
}

// addDerived plans the output of a derivation as one document, of which d is all but the text.
func (s *searchPlan) addDerived(name string, session int, h objects.Hash, d index.Doc) {
	s.addSource(index.Source{
		Name: name, Version: h.String()[:32] + " " + d.Name, Session: session,
		Docs: func(add func(index.Doc)) error {
			b, err := originals.Object(s.ctx, s.m, s.p, h)
			if err != nil {
				return unlessMissing(err)
			}
			segs, err := version.Decode(b)
			if d.Class == index.Composition {
				segs, err = provenance.SegmentsOf(state.IsComposition, b)
			}
			if err != nil {
				return nil // it cannot be found; fsck reports it
			}
			var text []string
			for _, x := range segs {
				text = append(text, x.Text)
			}
			doc := d
			doc.Text = strings.Join(text, "\n")
			add(doc)
			return nil
		},
	})
}

// addTexts plans documents in memory. Their version is the hash of their content.
func (s *searchPlan) addTexts(name string, session int, docs []index.Doc) {
	if len(docs) == 0 {
		return
	}
	var b strings.Builder
	for _, d := range docs {
		fmt.Fprintf(&b, "%d\x00%d\x00%d\x00%s\x00%s\x00%s\x00%s\x00", d.N, d.Class, d.Time, d.ID, d.Name, d.File, d.Text)
	}
	s.addSource(index.Source{
		Name: name, Version: objects.Sum([]byte(b.String())).String()[:32], Session: session,
		Docs: func(add func(index.Doc)) error {
			for _, d := range docs {
				add(d)
			}
			return nil
		},
	})
}

// addFacts plans the live facts, by session.
func (s *searchPlan) addFacts() {
	of := map[string][]index.Doc{}
	for f := range s.upper.Facts.All() {
		if !f.Live() {
			continue
		}
		n := 0
		if len(f.Evidence) > 0 {
			n = f.Evidence[0].Message
		}
		text := f.Text
		if len(f.Keywords) > 0 {
			text += "\n" + strings.Join(f.Keywords, " ")
		}
		if len(f.Files) > 0 {
			text += "\n" + strings.Join(f.Files, " ")
		}
		of[f.Session] = append(of[f.Session], index.Doc{N: n, Class: index.Fact, Time: f.Time.Unix(), ID: f.ID,
			Name: string(f.Kind), Text: text})
		if f.Open() {
			of[f.Session] = append(of[f.Session], index.Doc{N: n, Class: index.Pending, Time: f.Time.Unix(), ID: f.ID,
				Name: "issue", Text: "Unresolved issue: " + quoted(f.Text)})
		}
	}
	ids := make([]string, 0, len(of))
	for id := range of {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		n, ok := s.at[id]
		if !ok && id != "" {
			continue // of a session that is not shown
		}
		if id == "" {
			n = -1
		}
		docs := of[id]
		slices.SortFunc(docs, func(a, b index.Doc) int { return cmp.Or(cmp.Compare(a.N, b.N), cmp.Compare(a.ID, b.ID)) })
		s.addTexts("f/"+id, n, docs)
	}
}

// addNotes plans the newest states of Claude's notes.
func (s *searchPlan) addNotes() error {
	files, err := notes.Files(s.ctx, s.m, s.p)
	if err != nil {
		return err
	}
	var docs []index.Doc
	for _, f := range files {
		for _, h := range f.Heads() {
			if !h.Deleted {
				docs = append(docs, index.Doc{Class: index.ClaudeNote, Time: h.Time.Unix(), Name: f.Name, Text: h.Text})
			}
		}
	}
	s.addTexts("notes", -1, docs)
	return nil
}

// shows reports whether one of some sessions is shown, or there are none.
func (s *searchPlan) shows(ids []string) bool {
	return len(ids) == 0 || slices.ContainsFunc(ids, func(id string) bool { _, ok := s.at[id]; return ok })
}

// addKnowledge plans concepts and rules. A concept of sessions that were all removed is not found.
func (s *searchPlan) addKnowledge() {
	var docs []index.Doc
	for _, c := range s.upper.Concepts.Live() {
		if c.Revoked == "" && s.shows(c.Sessions) {
			text := strings.TrimSpace(strings.Join([]string{c.Name, c.Topic, c.Summary, strings.Join(c.Keywords, " "),
				strings.Join(c.Files, " ")}, "\n"))
			if c.Doubt != "" {
				text = strings.TrimSpace(c.Name + "\n" + c.Topic)
			}
			docs = append(docs, index.Doc{Class: index.Concept, Time: c.Updated.Unix(), ID: c.ID,
				Name: s.upper.Concepts.DisplayLabel(c, s.m.Refs.Device().ID), Text: text})
		}
	}
	s.addTexts("concepts", -1, docs)
	docs = nil
	for _, r := range s.upper.Rules.Rules {
		if r.InForce() {
			text := r.Text
			if r.Problem != "" {
				text += "\n" + r.Problem
			}
			docs = append(docs, index.Doc{Class: index.Rule, Time: r.LastValidated.Unix(), ID: r.ID, Name: r.Type, Text: text})
		}
	}
	s.addTexts("rules", -1, docs)
}
