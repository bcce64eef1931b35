package trust

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/memvcs/mem/layers/concepts"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/permanent"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// An upperState is what the layers above L1 of a project hold, with what revocations hide of it marked.
type UpperState struct {
	Facts    *facts.Set
	Concepts *concepts.Set
	Rules    *permanent.Set
}

// Folded folds the records of the upper layers of a project.
func (m Ops) Folded(ctx context.Context, p refs.Project, records []state.UpperRecord) (UpperState, error) {
	st, by, trust, err := m.InForceOf(ctx, p)
	if err != nil {
		return UpperState{}, err
	}
	return m.FoldUpper(ctx, records, trust, st, by)
}

// KnownFacts folds only the facts.
func (m Ops) KnownFacts(ctx context.Context, p refs.Project, records []state.UpperRecord) (*facts.Set, error) {
	st, by, trust, err := m.InForceOf(ctx, p)
	if err != nil {
		return nil, err
	}
	known, err := state.FoldFacts(records, trust)
	if err != nil {
		return nil, err
	}
	return known, (&taint{m: m, st: st, by: by}).facts(ctx, known)
}

// InForceOf returns what revocations of a project are in force.
func (m Ops) InForceOf(ctx context.Context, p refs.Project) (st *state.State, by []Revocation, trust state.Trust, err error) {
	if trust, err = m.Trust(ctx); err != nil {
		return nil, nil, trust, err
	}
	if st, err = m.Bare(ctx, p); err != nil {
		return nil, nil, trust, err
	}
	return st, InForce(Revocations(st.Revokes, trust.Of)), trust, nil
}

func (m Ops) FoldUpper(ctx context.Context, records []state.UpperRecord, trust state.Trust, st *state.State, by []Revocation) (out UpperState, err error) {
	if out.Facts, err = state.FoldFacts(records, trust); err != nil {
		return out, err
	}
	var whole *concepts.Set // without revocations
	if len(by) > 0 {
		if whole, err = state.FoldConcepts(records, out.Facts, trust); err != nil {
			return out, err
		}
	}
	t := &taint{m: m, st: st, by: by}
	if err := t.facts(ctx, out.Facts); err != nil {
		return out, err
	}
	if out.Concepts, err = state.FoldConcepts(records, out.Facts, trust); err != nil {
		return out, err
	}
	t.concepts(out.Concepts, whole)
	out.Rules, err = permanent.Fold(state.Statements(records, permanent.Kind, permanent.KindAct, permanent.KindReflect), out.Facts, trust.Of, t.word)
	return out, err
}

// facts marks the facts whose evidence comes from revoked sources, and the exchanges that speak of it. What those
// facts did to others is taken back.
func (t *taint) facts(ctx context.Context, known *facts.Set) error {
	if len(t.by) == 0 {
		return nil
	}
	for i := range known.Exchanges {
		x := &known.Exchanges[i]
		s := t.st.Session(x.Session)
		if s == nil {
			continue // its session is not here
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
			x.Revoked = found.In(x.From, x.To)
		}
	}
	known.UndoRevoked()
	return nil
}

// ofFact says why a fact is hidden. L1 shows what a tool returned beside the call, so a fact that rests on a tool
// and names the call's message rests on it.
func (p TaintedMessages) ofFact(f *facts.Fact) string {
	for _, e := range f.Evidence {
		if why := p.In(e.Message, e.Message); why != "" {
			return why
		}
		if why := p.Called(e.Message); why != "" && f.Trust == facts.Tool {
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
		c.Sessions = slices.DeleteFunc(c.Sessions, func(id string) bool { s := t.st.Session(id); return s != nil && t.session(s) != "" })
		lost := len(was.Exchanges) - len(c.Exchanges) + len(was.Sessions) - len(c.Sessions)
		switch {
		case lost == 0:
		case len(c.Exchanges)+len(c.Sessions) == 0:
			c.Revoked = "all it holds comes from sources that are revoked"
		case c.Edited < said:
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
	if s := t.st.Session(session); s != nil && len(t.by) > 0 {
		return t.session(s)
	}
	return ""
}

// WithoutRevoked removes the evidence that is based on revoked sources.
func (m Ops) WithoutRevoked(ctx context.Context, st *state.State, s *state.Session, found state.RuleEvidence) (state.RuleEvidence, error) {
	without, err := m.LeaveOut(ctx, st.Project, s, s.Now().Original)
	if errors.Is(err, ErrRevoked) {
		return state.RuleEvidence{}, nil
	}
	if err != nil || len(without) == 0 {
		return found, err
	}
	found.Trials = slices.DeleteFunc(found.Trials, func(x permanent.Trial) bool {
		return slices.ContainsFunc(without, func(w [2]int) bool { return w[0] <= x.To && w[1] >= x.From })
	})
	return found, nil
}
