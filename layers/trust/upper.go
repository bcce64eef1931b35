package trust

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// An UpperState is the content of the layers above L1 of a project; items that revocations hide are marked.
type UpperState struct {
	Facts      *facts.Set
	Concepts   *concepts.Set
	Rules      *permanent.Set
	Statements int // records about facts: what a reflection can see
}

// Unreflected returns the number of statements about facts that no reflection has seen. Records are only added, so it does
// not depend on the order in which they arrived.
func (u UpperState) Unreflected() int { return max(0, u.Statements-u.Rules.Reflected) }

// Known returns the content of the layers above L1 of a project.
func Known(ctx context.Context, db *state.DB, p refs.Project) (UpperState, error) {
	records, err := db.Upper(ctx, p)
	if err != nil {
		return UpperState{}, err
	}
	return Folded(ctx, db, p, records)
}

// Folded folds the records of the upper layers of a project.
func Folded(ctx context.Context, db *state.DB, p refs.Project, records []refs.Record) (UpperState, error) {
	st, by, err := InForceOf(ctx, db, p)
	if err != nil {
		return UpperState{}, err
	}
	return foldUpper(ctx, db, records, st, by)
}

// KnownFacts folds only the facts.
func KnownFacts(ctx context.Context, db *state.DB, p refs.Project, records []refs.Record) (*facts.Set, error) {
	st, by, err := InForceOf(ctx, db, p)
	if err != nil {
		return nil, err
	}
	known, err := facts.Fold(state.Statements(records))
	if err != nil {
		return nil, err
	}
	return known, (&taint{m: db, st: st, by: by}).facts(ctx, known)
}

// InForceOf returns the revocations in force in a project, with its state.
func InForceOf(ctx context.Context, db *state.DB, p refs.Project) (*state.State, []Revocation, error) {
	st, err := Bare(ctx, db, p)
	if err != nil {
		return nil, nil, err
	}
	return st, Revocations(st.Revokes), nil
}

// foldUpper folds the records of the upper layers of a project and marks what revocations hide.
func foldUpper(ctx context.Context, db *state.DB, records []refs.Record, st *state.State,
	by []Revocation) (out UpperState, err error) {
	statements := state.Statements(records)
	for _, r := range records {
		if r.Kind == facts.KindExchange || r.Kind == facts.KindJudgement {
			out.Statements++
		}
	}
	if out.Facts, err = facts.Fold(statements); err != nil {
		return out, err
	}
	var whole *concepts.Set // without revocations
	if len(by) > 0 {
		if whole, err = concepts.Fold(statements, out.Facts); err != nil {
			return out, err
		}
	}
	t := &taint{m: db, st: st, by: by}
	if err := t.facts(ctx, out.Facts); err != nil {
		return out, err
	}
	if out.Concepts, err = concepts.Fold(statements, out.Facts); err != nil {
		return out, err
	}
	t.concepts(out.Concepts, whole)
	out.Rules, err = permanent.Fold(statements, out.Facts, t.word)
	return out, err
}

// facts finds the branches that exchanges are of, and marks the facts whose evidence comes from revoked sources, and the
// exchanges about it. The effects of those facts on others are undone.
func (t *taint) facts(ctx context.Context, known *facts.Set) error {
	for i := range known.Exchanges {
		x := &known.Exchanges[i]
		x.Session = t.st.IDOf(x.Session, x.Original, x.Device)
		for k := range x.Facts {
			x.Facts[k].Session = x.Session
		}
	}
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

// ofFact returns why a fact is hidden, "" if it is not. L1 shows the result of a tool next to the call, so a fact whose
// evidence is a tool's and names the message of the call depends on the result.
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

// concepts marks the concepts that lost all or some of their members.
func (t *taint) concepts(now, whole *concepts.Set) {
	if whole == nil {
		return
	}
	revoked := t.lastRevoked()
	for i, c := range now.Concepts {
		was := whole.Concepts[i]
		c.Sessions = slices.DeleteFunc(c.Sessions, func(id string) bool {
			s := t.st.Session(id)
			return s != nil && t.session(s) != ""
		})
		lost := len(was.Exchanges) - len(c.Exchanges) + len(was.Sessions) - len(c.Sessions)
		switch {
		case lost == 0:
		case len(c.Exchanges)+len(c.Sessions) == 0:
			c.Revoked = "all its members come from revoked sources"
		case c.Edited < revoked:
			c.Doubt = "some of its members come from a revoked source, and its summary is older than the revocation"
		}
	}
}

// lastRevoked returns the Lamport time of the last revocation in force.
func (t *taint) lastRevoked() (last uint64) {
	for _, r := range t.st.Revokes {
		if slices.ContainsFunc(t.by, func(b Revocation) bool { return b.Origin == r.Origin }) {
			last = max(last, r.Stamp.Lamport)
		}
	}
	return last
}

// word returns why the text that the user typed in a session is hidden, "" if it is not.
func (t *taint) word(session string) string {
	if s := t.st.Session(session); s != nil && len(t.by) > 0 {
		return t.session(s)
	}
	return ""
}

// WithoutRevoked returns the user's words in a session, none if it is revoked.
func WithoutRevoked(ctx context.Context, db *state.DB, st *state.State, s *state.Session,
	found state.RuleEvidence) (state.RuleEvidence, error) {
	if _, err := LeaveOut(ctx, db, st.Project, s, s.Now().Original); err != nil {
		if errors.Is(err, ErrRevoked) {
			err = nil
		}
		return state.RuleEvidence{}, err
	}
	return found, nil
}
