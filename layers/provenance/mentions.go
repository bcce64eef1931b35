package provenance

import (
	"context"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A Mention says that a text appeared in something, or disappeared from it.
type Mention struct {
	Name     string `json:"name"` // such as abc123:v002
	Session  string `json:"-"`    // id; empty for a composition
	Appeared bool   `json:"appeared"`
}

// Mentions returns the operations of a project that added or removed a text, by commit. A session is compared with its
// previous state, also if its file was rewritten; a version with the previous version of its session, a composition
// with its previous state, and the first ones with the originals of their inputs. White space counts as one space.
func Mentions(ctx context.Context, db *state.DB, p state.Project, text string) (map[string][]Mention, error) {
	works, err := revision.Operations(ctx, db, p)
	if err != nil {
		return nil, err
	}
	st, err := trust.State(ctx, db, p.ID)
	if err != nil {
		return nil, err
	}
	s := &mentionFinder{m: db, ctx: ctx, project: p, text: CollapseSpace(text), since: map[objects.Hash]int{},
		has: map[objects.Hash]bool{}}
	out := map[string][]Mention{}
	for commit, w := range works {
		found, err := s.work(st, w)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			out[commit] = found
		}
	}
	return out, nil
}

// CollapseSpace replaces each run of white space by one space.
func CollapseSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// A mentionFinder searches a text, each object at most once.
type mentionFinder struct {
	m       *state.DB
	ctx     context.Context
	project state.Project
	text    string
	since   map[objects.Hash]int  // by original: the first message with the text, 0 for none
	has     map[objects.Hash]bool // by output of a version or composition
}

func (s *mentionFinder) work(st *state.State, w *revision.Operation) ([]Mention, error) {
	var out []Mention
	note := func(name, session string, was, is bool) {
		if was != is {
			out = append(out, Mention{name, session, is})
		}
	}
	for _, c := range w.Captured {
		is, err := s.original(s.project.ID, c.Session, c.Now)
		if err != nil {
			return nil, err
		}
		was := false
		// a growing file loses no text
		if before := c.Session.Captured(c.Now); before != nil && (is || before.Generation != c.Now.Generation) {
			if was, err = s.original(s.project.ID, c.Session, before); err != nil {
				return nil, err
			}
		}
		note(records.ShortID(c.Session.ID)+":original", c.Session.ID, was, is)
	}
	for _, v := range w.Versions {
		is, err := s.contains(state.IsVersion, v.Derivation.Output)
		if err != nil {
			return nil, err
		}
		was, err := s.beforeVersion(st, v)
		if err != nil {
			return nil, err
		}
		note(records.ShortID(v.Session)+":"+v.Label, v.Session, was, is)
	}
	for _, c := range w.Compositions {
		is, err := s.contains(state.IsComposition, c.Derivation.Output)
		if err != nil {
			return nil, err
		}
		was, err := s.beforeComposition(st, c)
		if err != nil {
			return nil, err
		}
		note(c.Name, "", was, is)
	}
	return out, nil
}

// original reports whether the text occurs up to a growth point.
func (s *mentionFinder) original(project refs.Project, session *state.Session, p *records.Point) (bool, error) {
	newest := p
	for i := range session.Points { // the newest of its generation contains the others
		if session.Points[i].Generation == p.Generation && session.Points[i].Stamp.Device == p.Stamp.Device {
			newest = &session.Points[i]
		}
	}
	first, ok := s.since[newest.Original]
	if !ok {
		segs, err := originals.ReadConversation(s.ctx, s.m, project, newest)
		if err != nil {
			return false, err
		}
		for _, x := range segs {
			if strings.Contains(CollapseSpace(x.Text), s.text) {
				first = x.Src[0][0]
				break
			}
		}
		s.since[newest.Original] = first
	}
	return first > 0 && first <= p.Scan.Values, nil
}

// contains reports whether the text occurs in the body h of a version or composition.
func (s *mentionFinder) contains(kind state.Kind, h objects.Hash) (bool, error) {
	if has, ok := s.has[h]; ok {
		return has, nil
	}
	b, err := originals.Object(s.ctx, s.m, s.project.ID, h)
	if err != nil {
		return false, err
	}
	segs, err := SegmentsOf(kind, b)
	if err != nil {
		return false, err
	}
	s.has[h] = slices.ContainsFunc(segs, func(x version.Segment) bool {
		return strings.Contains(CollapseSpace(x.Text), s.text)
	})
	return s.has[h], nil
}

// beforeVersion reports whether the version before v, or else the source of v, contains the text.
func (s *mentionFinder) beforeVersion(st *state.State, v *records.Version) (bool, error) {
	var last *records.Version
	for _, x := range st.Versions {
		if x.ID == v.ID {
			break
		}
		// removed versions count, because the log shows them
		if x.Session == v.Session && x.Whole() {
			last = x
		}
	}
	if last != nil && v.Whole() {
		return s.contains(state.IsVersion, last.Derivation.Output)
	}
	session := st.Session(v.Session)
	if session == nil || len(v.Derivation.Inputs) == 0 {
		return false, nil
	}
	p := *state.PointOf(session, v.Origin())
	had, err := s.original(s.project.ID, session, &p)
	if v.Whole() || !had || err != nil {
		return had, err
	}
	plan, err := v.Plan()
	if err != nil {
		return false, err
	}
	p.Scan.Values = plan.Since
	earlier, err := s.original(s.project.ID, session, &p)
	return !earlier, err // text of earlier messages does not disappear here
}

func (s *mentionFinder) beforeComposition(st *state.State, c *records.Composition) (bool, error) {
	var last *records.Composition
	for _, x := range st.Compositions {
		if x.ID == c.ID {
			break
		}
		if x.Name == c.Name {
			last = x
		}
	}
	if last != nil {
		return s.contains(state.IsComposition, last.Derivation.Output)
	}
	for _, part := range c.Parts {
		rev, err := partRev(s.ctx, s.m, part)
		if err != nil {
			return false, err
		}
		if rev.Session == nil {
			continue
		}
		if had, err := s.original(rev.Project.ID, rev.Session, pointOf(rev)); had || err != nil {
			return had, err
		}
	}
	return false, nil
}
