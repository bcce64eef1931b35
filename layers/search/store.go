package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/search/index"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// Search answers a query over projects. Their indexes are brought up to date first; if another process does
// that now, what they had before is searched. A damaged index is deleted and built again.
func (m Ops) Search(ctx context.Context, projects []refs.Project, q Query) ([]Hit, error) {
	s, err := m.Searcher(ctx, projects)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Search(ctx, q)
}

// A Searcher answers several queries over the same projects.
type Searcher struct {
	m        Ops
	projects []refs.Project
	corpora  []Corpus
}

// Searcher brings the indexes of projects up to date and opens them.
func (m Ops) Searcher(ctx context.Context, projects []refs.Project) (*Searcher, error) {
	s := &Searcher{m: m, projects: projects}
	return s, s.open(ctx)
}

func (s *Searcher) open(ctx context.Context) error {
	tips := s.m.look(ctx)
	if len(s.projects) > 1 {
		all, err := s.m.Refs.Tips()
		if err != nil {
			return err
		}
		tips = func(p refs.Project) ([]refs.Tip, error) { return all[p], nil }
	}
	ready := make([]*index.Reader, len(s.projects))
	if len(s.projects) > 1 {
		parallel(len(ready), func(i int) { ready[i] = s.m.ready(s.projects[i], tips) })
	}
	for i, p := range s.projects {
		c := Corpus{string(p), ready[i]}
		if c.Reader == nil {
			var err error
			if c, err = s.m.corpus(ctx, p, tips); err != nil {
				s.Close()
				return err
			}
		}
		if c.Reader != nil {
			s.corpora = append(s.corpora, c)
		}
	}
	return nil
}

// ready opens the index of a project if it is up to date and undamaged, else it returns nil.
func (m Ops) ready(p refs.Project, tips tipsOf) *index.Reader {
	head, err := index.ReadHead(m.searchDir(p))
	if err != nil {
		return nil
	}
	if fresh, err := searchFresh(p, head.Key, tips); err != nil || !fresh {
		return nil
	}
	r, err := index.Open(m.searchDir(p), head)
	if err != nil {
		return nil // told when it is opened again
	}
	return r
}

// Close releases the indexes.
func (s *Searcher) Close() {
	for _, c := range s.corpora {
		c.Close()
	}
	s.corpora = nil
}

// Search answers a query.
func (s *Searcher) Search(ctx context.Context, q Query) ([]Hit, error) {
	hits, err := Search(s.corpora, q)
	if !errors.Is(err, index.ErrDamaged) {
		return hits, err
	}
	s.Close()
	for _, p := range s.projects {
		os.RemoveAll(s.m.searchDir(p)) // it is built again
	}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	return Search(s.corpora, q)
}

func (m Ops) searchDir(p refs.Project) string { return m.CachePath("search", string(p)) }

// tipsOf returns the tips of the lanes of a project.
type tipsOf func(p refs.Project) ([]refs.Tip, error)

// look returns tipsOf as the lanes are when it is called.
func (m Ops) look(ctx context.Context) tipsOf {
	return func(p refs.Project) (tips []refs.Tip, err error) {
		err = m.Refs.View(ctx, p, func(tx *refs.Tx) error {
			tips = tx.Tips()
			return nil
		})
		return tips, err
	}
}

// corpus opens the index of a project.
func (m Ops) corpus(ctx context.Context, p refs.Project, tips tipsOf) (Corpus, error) {
	c := Corpus{Project: string(p)}
	head, err := m.updateSearch(ctx, p, tips)
	if err != nil {
		return c, err
	}
	r, err := index.Open(m.searchDir(p), head)
	if errors.Is(err, index.ErrDamaged) {
		os.RemoveAll(m.searchDir(p)) // it is built again
		if err := m.UpdateSearch(ctx, p); err != nil {
			return c, err
		}
		r, err = index.Open(m.searchDir(p), nil)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, index.ErrDamaged) {
		return c, nil // nothing can be found
	}
	c.Reader = r
	return c, err
}

// UpdateSearch brings the search index of a project up to date, unless another process does.
func (m Ops) UpdateSearch(ctx context.Context, p refs.Project) error {
	_, err := m.updateSearch(ctx, p, m.look(ctx))
	return err
}

// updateSearch is UpdateSearch where the lanes have the given tips. It returns the head of the index if that was
// up to date.
func (m Ops) updateSearch(ctx context.Context, p refs.Project, tips tipsOf) (*index.Head, error) {
	head, err := index.ReadHead(m.searchDir(p))
	if err == nil {
		if fresh, err := searchFresh(p, head.Key, tips); err != nil || fresh {
			return head, err
		}
	}
	return nil, m.buildSearch(ctx, p)
}

// buildSearch makes an index of the project as it is now.
func (m Ops) buildSearch(ctx context.Context, p refs.Project) error {
	plan, err := m.searchPlan(ctx, p)
	if err != nil {
		return err
	}
	err = index.Update(m.searchDir(p), plan, m.SameCache)
	if errors.Is(err, index.ErrDamaged) || errors.Is(err, fs.ErrNotExist) {
		os.RemoveAll(m.searchDir(p)) // it is built again
		err = index.Update(m.searchDir(p), plan, m.SameCache)
	}
	if errors.Is(err, index.ErrBusy) || errors.Is(err, fs.ErrPermission) {
		return nil // what there is can be searched
	}
	return err
}

// searchKey names the state of the projects that an index is made from: the first is its own, then that of this
// device, then those that parts of its compositions come from.
func searchKey(projects []refs.Project, tips tipsOf) (string, error) {
	var b strings.Builder
	b.WriteString(documentsVersion())
	for _, p := range projects {
		at, err := tips(p)
		if err != nil {
			return "", err
		}
		b.WriteString("\n" + string(p))
		for _, t := range at {
			b.WriteString(" " + t.Device + "@" + t.Commit)
		}
	}
	return b.String(), nil
}

// documentsVersion is the first line of the key of an index.
func documentsVersion() string { return fmt.Sprintf("%d %d", Version, refine.Version) }

// searchFresh reports whether an index with the key is one of the state with the tips.
func searchFresh(p refs.Project, key string, tips tipsOf) (bool, error) {
	lines := strings.Split(key, "\n")
	if len(lines) < 3 || lines[0] != documentsVersion() {
		return false, nil
	}
	var projects []refs.Project
	for _, l := range lines[1:] {
		id, _, _ := strings.Cut(l, " ")
		projects = append(projects, refs.Project(id))
	}
	if projects[0] != p {
		return false, nil
	}
	now, err := searchKey(projects, tips)
	return now == key, err
}

// A searchPlan gathers what an index consists of.
type searchPlan struct {
	m     Ops
	ctx   context.Context
	p     refs.Project
	st    *state.State
	trust state.Trust
	upper trust.UpperState
	by    []trust.Revocation
	plan  index.Plan
	at    map[string]int // of sessions in plan
}

// searchPlan returns what the index of a project is to consist of: what is shown, was not revoked and comes
// from devices that are trusted.
func (m Ops) searchPlan(ctx context.Context, p refs.Project) (index.Plan, error) {
	s := &searchPlan{m: m, ctx: ctx, p: p, at: map[string]int{}}
	bare, err := trust.On(m.DB).Bare(ctx, p)
	if err != nil {
		return s.plan, err
	}
	projects := []refs.Project{p, refs.Home}
	for _, q := range bare.PartsFrom() {
		if strings.Trim(string(q), "0123456789abcdef") == "" {
			projects = append(projects, q)
		}
	}
	// before the rest is read: what comes meanwhile makes it stale
	if s.plan.Key, err = searchKey(projects, m.look(ctx)); err != nil {
		return s.plan, err
	}
	if s.st, err = trust.On(m.DB).Outline(ctx, p); err != nil {
		return s.plan, err
	}
	if s.trust, err = m.Trust(ctx); err != nil {
		return s.plan, err
	}
	all, err := trust.On(m.DB).RevocationsOf(ctx, s.st)
	if err != nil {
		return s.plan, err
	}
	s.by = trust.InForce(all)
	records, err := m.Upper(ctx, p)
	if err != nil {
		return s.plan, err
	}
	if s.upper, err = trust.On(m.DB).Folded(ctx, p, records); err != nil {
		return s.plan, err
	}
	return s.plan, s.gather()
}

func (s *searchPlan) gather() error {
	for _, x := range s.st.Sessions {
		if x.Shown() && s.trust.Of(x.Now().Stamp.Device) {
			if err := s.session(x); err != nil {
				return err
			}
		}
	}
	for _, v := range s.st.Versions {
		n, ok := s.at[v.Session]
		if ok && !v.Deleted && v.Revoked == "" && s.trust.Of(v.Device) {
			s.made("v/"+v.ID.String(), n, v.Derivation.Output,
				index.Doc{Class: index.Version, Time: v.Time.Unix(), Name: v.Name()})
		}
	}
	seen := map[string]bool{}
	for _, c := range slices.Backward(s.st.Compositions) {
		if seen[c.Name] || c.Deleted || c.Revoked != "" || !s.trust.Of(c.Device) {
			continue
		}
		seen[c.Name] = true
		s.made("c/"+c.Name, -1, c.Derivation.Output,
			index.Doc{Class: index.Composition, Time: c.Time.Unix(), Name: c.Name})
	}
	s.facts()
	s.lasting()
	return nil
}

// session plans a session: its messages, and the session itself.
func (s *searchPlan) session(x *state.Session) error {
	now := x.Now()
	meta := index.Session{
		ID: x.ID, Title: x.Title(), Branch: now.Scan.Branch, Parent: x.Parent(), Device: now.Stamp.Device,
		First: now.Scan.First.Unix(), Last: now.Scan.Last.Unix(), Topics: s.topics(x.ID),
	}
	if now.Scan.First.IsZero() {
		meta.First, meta.Last = now.Time.Unix(), now.Time.Unix()
	}
	for _, k := range x.Markers() {
		meta.Marks = append(meta.Marks, index.Mark{N: k.N, Weight: int(k.Weight)})
	}
	var hidden [][2]int
	if len(s.by) > 0 {
		var err error
		if hidden, err = trust.On(s.m.DB).LeaveOut(s.ctx, s.p, x, now.Original); errors.Is(err, trust.ErrRevoked) {
			return nil
		} else if err != nil {
			return err
		}
	}
	n := len(s.plan.Sessions)
	s.at[x.ID] = n
	s.plan.Sessions = append(s.plan.Sessions, meta)
	s.plan.Sources = append(s.plan.Sources, index.Source{
		Name: "s/" + x.ID, Version: now.Original.String()[:32] + hiddenText(hidden), Session: n,
		Docs: func(add func(index.Doc)) error {
			err := originals.On(s.m.DB).Stream(s.ctx, s.p, now.Original, func(r io.Reader) error {
				return Transcript(r, func(n int) bool { return !originals.Outside(n, hidden) }, add)
			})
			return unlessMissing(err)
		},
	})
	about := About(meta)
	s.texts("a/"+x.ID, n, []index.Doc{about})
	return nil
}

// unlessMissing returns nil for the error of an object that is not here: what cannot be read cannot be found,
// and fsck tells of it.
func unlessMissing(err error) error {
	if errors.Is(err, objects.ErrNotFound) {
		return nil
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
		if slices.Contains(c.Sessions, session) && s.trust.Of(c.Device) && c.Revoked == "" {
			add(c.Name)
			add(c.Topic)
		}
	}
	for _, x := range s.upper.Facts.LiveExchanges(session) {
		if x.Revoked == "" && s.trust.Of(x.Device) {
			add(x.Topic)
		}
	}
	return out
}

// made plans the output of a derivation as one document, of which d is all but the text.
func (s *searchPlan) made(name string, session int, h objects.Hash, d index.Doc) {
	s.plan.Sources = append(s.plan.Sources, index.Source{
		Name: name, Version: h.String()[:32] + " " + d.Name, Session: session,
		Docs: func(add func(index.Doc)) error {
			b, err := originals.On(s.m.DB).Object(s.ctx, s.p, h)
			if err != nil {
				return unlessMissing(err)
			}
			segs, err := compress.Decode(b)
			if d.Class == index.Composition {
				segs, err = provenance.SegmentsOf(state.IsComposition, b)
			}
			if err != nil {
				return nil // what cannot be read cannot be found; fsck tells of it
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

// texts plans documents that are at hand. Their content is their version.
func (s *searchPlan) texts(name string, session int, docs []index.Doc) {
	if len(docs) == 0 {
		return
	}
	var b strings.Builder
	for _, d := range docs {
		fmt.Fprintf(&b, "%d\x00%d\x00%d\x00%s\x00%s\x00%s\x00%s\x00", d.N, d.Class, d.Time, d.ID, d.Name, d.File, d.Text)
	}
	s.plan.Sources = append(s.plan.Sources, index.Source{
		Name: name, Version: objects.Sum([]byte(b.String())).String()[:32], Session: session,
		Docs: func(add func(index.Doc)) error {
			for _, d := range docs {
				add(d)
			}
			return nil
		},
	})
}

// facts plans the facts that stand, by session.
func (s *searchPlan) facts() {
	of := map[string][]index.Doc{}
	for f := range s.upper.Facts.All() {
		if !f.Live() || !s.trust.Of(f.Device) {
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
		s.texts("f/"+id, n, docs)
	}
}

// shows reports whether one of some sessions is shown, or there are none.
func (s *searchPlan) shows(ids []string) bool {
	return len(ids) == 0 || slices.ContainsFunc(ids, func(id string) bool { _, ok := s.at[id]; return ok })
}

// lasting plans concepts and rules. A concept of sessions that were all removed is not found.
func (s *searchPlan) lasting() {
	var docs []index.Doc
	for _, c := range s.upper.Concepts.Live() {
		if c.Revoked == "" && s.trust.Of(c.Device) && s.shows(c.Sessions) {
			text := strings.TrimSpace(strings.Join([]string{c.Name, c.Topic, c.Summary, strings.Join(c.Keywords, " "),
				strings.Join(c.Files, " ")}, "\n"))
			if c.Doubt != "" {
				text = strings.TrimSpace(c.Name + "\n" + c.Topic)
			}
			docs = append(docs, index.Doc{Class: index.Concept, Time: c.Updated.Unix(), ID: c.ID,
				Name: s.upper.Concepts.DisplayLabel(c, s.m.Refs.Device().ID), Text: text})
		}
	}
	s.texts("concepts", -1, docs)
	docs = nil
	for _, r := range s.upper.Rules.Rules {
		if r.InForce() && s.trust.Of(r.Device) {
			text := r.Text
			if r.Problem != "" {
				text += "\n" + r.Problem
			}
			docs = append(docs, index.Doc{Class: index.Rule, Time: r.LastValidated.Unix(), ID: r.ID, Name: r.Type, Text: text})
		}
	}
	s.texts("rules", -1, docs)
}
