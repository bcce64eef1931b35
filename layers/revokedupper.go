package layers

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/memvcs/mem/layers/concepts"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/permanent"
	"github.com/memvcs/mem/refs"
)

// An upperState is what the layers above L1 of a project hold, with what revocations hide of it marked.
type upperState struct {
	Facts    *facts.Set
	Concepts *concepts.Set
	Rules    *permanent.Set
}

// folded folds the records of the upper layers of a project.
func (m *Memory) folded(ctx context.Context, p refs.Project, records []upperRecord) (upperState, error) {
	st, by, trust, err := m.inForceOf(ctx, p)
	if err != nil {
		return upperState{}, err
	}
	return m.fold(ctx, records, trust, st, by)
}

// knownFacts folds only the facts.
func (m *Memory) knownFacts(ctx context.Context, p refs.Project, records []upperRecord) (*facts.Set, error) {
	st, by, trust, err := m.inForceOf(ctx, p)
	if err != nil {
		return nil, err
	}
	known, err := foldFacts(records, trust)
	if err != nil {
		return nil, err
	}
	return known, (&taint{m: m, st: st, by: by}).facts(ctx, known)
}

// inForceOf returns what revocations of a project are in force.
func (m *Memory) inForceOf(ctx context.Context, p refs.Project) (st *State, by []Revocation, trust Trust, err error) {
	if trust, err = m.Trust(ctx); err != nil {
		return nil, nil, trust, err
	}
	if st, err = m.bare(ctx, p); err != nil {
		return nil, nil, trust, err
	}
	return st, inForce(revocations(st.Revokes, trust.Of)), trust, nil
}

func (m *Memory) fold(ctx context.Context, records []upperRecord, trust Trust, st *State, by []Revocation) (out upperState, err error) {
	if out.Facts, err = foldFacts(records, trust); err != nil {
		return out, err
	}
	var whole *concepts.Set // as if nothing was revoked
	if len(by) > 0 {
		if whole, err = foldConcepts(records, out.Facts, trust); err != nil {
			return out, err
		}
	}
	t := &taint{m: m, st: st, by: by}
	if err := t.facts(ctx, out.Facts); err != nil {
		return out, err
	}
	if out.Concepts, err = foldConcepts(records, out.Facts, trust); err != nil {
		return out, err
	}
	t.concepts(out.Concepts, whole)
	out.Rules, err = permanent.Fold(statements(records, permanent.Kind, permanent.KindAct, permanent.KindReflect), out.Facts, trust.Of, t.word)
	return out, err
}

// facts marks the facts whose evidence comes from revoked sources, and the exchanges that speak of it.
func (t *taint) facts(ctx context.Context, known *facts.Set) error {
	if len(t.by) == 0 {
		return nil
	}
	for i := range known.Exchanges {
		x := &known.Exchanges[i]
		s := t.st.session(x.Session)
		if s == nil {
			continue // of no session that is here: nothing can be told of it
		}
		if why := t.session(s); why != "" {
			x.Revoked = why
			for k := range x.Facts {
				x.Facts[k].Revoked = why
			}
			continue
		}
		found, err := t.messages(ctx, s, x.Original)
		if err != nil {
			return err
		}
		if found.empty() {
			continue
		}
		for k := range x.Facts {
			f := &x.Facts[k]
			f.Revoked = found.ofFact(f)
			x.Revoked = cmp.Or(x.Revoked, f.Revoked)
		}
		if len(x.Facts) == 0 {
			x.Revoked = found.in(x.From, x.To)
		}
	}
	return nil
}

// ofFact says why a fact is hidden. L1 shows what a tool returned beside the call, so a fact that rests on a tool and names the
// call's message rests on it.
func (p taintedMessages) ofFact(f *facts.Fact) string {
	for _, e := range f.Evidence {
		if why := p.in(e.Message, e.Message); why != "" {
			return why
		}
		if why := p.called(e.Message); why != "" && f.Trust == facts.Tool {
			return why
		}
	}
	return ""
}

// concepts marks the concepts of which nothing is left, and those of which something is not.
func (t *taint) concepts(now, whole *concepts.Set) {
	if whole == nil {
		return
	}
	said := t.lastSaid()
	for i, c := range now.Concepts {
		was := whole.Concepts[i]
		c.Sessions = slices.DeleteFunc(c.Sessions, func(id string) bool { s := t.st.session(id); return s != nil && t.session(s) != "" })
		lost := len(was.Exchanges) - len(c.Exchanges) + len(was.Sessions) - len(c.Sessions)
		switch {
		case lost == 0:
		case len(c.Exchanges)+len(c.Sessions) == 0:
			c.Revoked = "all it holds comes from sources that are revoked"
		case c.Said < said:
			c.Doubt = "some of what it held comes from a source that is revoked, and its summary was not written anew since"
		}
	}
}

// lastSaid returns the lamport time of the last revocation in force.
func (t *taint) lastSaid() (last uint64) {
	for _, r := range t.st.Revokes {
		if slices.ContainsFunc(t.by, func(b Revocation) bool { return b.Origin == r.Origin }) {
			last = max(last, r.Stamp.Lamport)
		}
	}
	return last
}

// word says why what the user typed in a session is hidden.
func (t *taint) word(session string) string {
	if s := t.st.session(session); s != nil && len(t.by) > 0 {
		return t.session(s)
	}
	return ""
}

// believed leaves out of what a session shows what rests on revoked sources.
func (m *Memory) believed(ctx context.Context, st *State, s *Session, found signs) (signs, error) {
	without, err := m.leaveOut(ctx, st.Project, s, s.Now().Original)
	if errors.Is(err, ErrRevoked) {
		return signs{}, nil
	}
	if err != nil || len(without) == 0 {
		return found, err
	}
	found.Trials = slices.DeleteFunc(found.Trials, func(x permanent.Trial) bool {
		return slices.ContainsFunc(without, func(w [2]int) bool { return w[0] <= x.To && w[1] >= x.From })
	})
	return found, nil
}
