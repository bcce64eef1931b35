package provenance

import (
	"context"
	"fmt"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A ruleAct is a record of an act on a rule.
type ruleAct struct {
	refs.Record
	body permanent.Act
}

// ruleRecords returns the definition of a rule and the acts on it.
func ruleRecords(records []refs.Record, rule string) (made permanent.Definition, acts []ruleAct, err error) {
	for _, r := range records {
		switch {
		case err != nil:
		case r.Kind == permanent.Kind && r.ID.String() == rule:
			err = state.ApplyTo(r, func(b permanent.Definition) { made = b })
		case r.Kind == permanent.KindAct:
			err = state.ApplyTo(r, func(b permanent.Act) {
				if b.Rule == rule {
					acts = append(acts, ruleAct{r, b})
				}
			})
		}
	}
	return made, acts, err
}

// quote explains a sentence that the user typed.
func (w *explainer) quote(ctx context.Context, p refs.Project, word permanent.Quote) (*Reason, error) {
	s, err := w.session(ctx, p, word.Session, objects.Hash{})
	if err != nil {
		return nil, err
	}
	n := &Reason{Kind: "message", Name: fmt.Sprintf("%s#%d", records.ShortID(word.Session), word.Message),
		Session: word.Session, Text: word.Text, Trust: facts.User.String(),
		Time: word.Time, Revoked: s.Revoked, Next: []*Reason{s}}
	n.note("typed by the user")
	return n, nil
}

// maxMessages is the number of messages of a range that are listed.
const maxMessages = 50

// messages explains messages by their speakers and the session.
func (w *explainer) messages(ctx context.Context, rev state.Rev) (*Reason, error) {
	s, err := w.session(ctx, rev.Project.ID, rev.Session.ID, objects.Hash{})
	if err != nil {
		return nil, err
	}
	name := rev.Name()
	if rev.From == rev.To {
		name = fmt.Sprintf("%s#%d", records.ShortID(rev.Session.ID), rev.From)
	}
	out := &Reason{Kind: "messages", Name: name, Session: rev.Session.ID, Revoked: s.Revoked,
		Device: s.Device, By: s.By}
	cited := map[int]bool{}
	for n := rev.From; n <= min(rev.To, rev.From+maxMessages-1); n++ {
		cited[n] = true
	}
	if left := rev.To - rev.From + 1 - len(cited); left > 0 {
		out.note("%d more messages are not shown", left)
	}
	q, err := revision.Quotable(ctx, w.m, rev.Project.ID, rev.Session, rev.Session.Now(), cited)
	if err != nil {
		return nil, err
	}
	from, err := w.revokedMessages(ctx, rev)
	if err != nil {
		return nil, err
	}
	least := facts.User
	for n := rev.From; n < rev.From+len(cited); n++ {
		done := map[facts.Part]bool{}
		for _, part := range q.Text.Parts[n] {
			if done[part] {
				continue
			}
			done[part] = true
			m := &Reason{Kind: "message", Name: fmt.Sprintf("%s#%d", records.ShortID(rev.Session.ID), n),
				Session: rev.Session.ID, Text: tokens.OneLine(part.Text, 120), Trust: part.Speaker.Trust("").String(),
				Revoked: s.Revoked, Notes: []string{"said by " + part.Speaker.String()}}
			if m.Revoked == "" && part.Speaker == facts.ByTool {
				if m.Revoked = from.In(n, n); m.Revoked == "" {
					m.Revoked = from.Called(n)
				}
			}
			least = min(least, part.Speaker.Trust(""))
			out.Next = append(out.Next, m)
		}
	}
	if len(out.Next) > 0 {
		out.Trust = least.String()
	}
	out.Next = append(out.Next, s)
	return out, nil
}

// revokedMessages returns the messages of a session that came from revoked tools and hosts.
func (w *explainer) revokedMessages(ctx context.Context, rev state.Rev) (trust.TaintedMessages, error) {
	st, by, err := trust.InForceOf(ctx, w.m, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	s := st.Session(rev.Session.ID)
	if s == nil {
		return nil, nil
	}
	return trust.PlacesAt(ctx, w.m, rev.Project.ID, s, s.Now().Original, by)
}

// object explains the version, composition or original with a hash; other objects are only bytes.
func (w *explainer) object(ctx context.Context, rev state.Rev) (*Reason, error) {
	st, err := trust.Outline(ctx, w.m, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	p := st.AsProject()
	for _, v := range st.Versions {
		if s := st.Session(v.Session); v.Derivation.Output == rev.Hash && s != nil {
			return w.version(ctx, revision.At(state.Rev{Project: p, Session: s}, v))
		}
	}
	for _, c := range st.Compositions {
		if c.Derivation.Output == rev.Hash {
			return w.composition(ctx, state.Rev{Kind: state.IsComposition, Project: p, Composition: c, Hash: rev.Hash})
		}
	}
	for _, s := range st.Sessions {
		if s.Point(rev.Hash) != nil {
			return w.session(ctx, p.ID, s.ID, rev.Hash)
		}
	}
	out := &Reason{Kind: "object", Name: "b3:" + rev.Hash.Short()}
	out.note("no version, composition or session has this content: it is an input, a witness or a file of a session")
	return out, nil
}

// commit explains a commit by its signer.
func (w *explainer) commit(ctx context.Context, rev state.Rev) (*Reason, error) {
	for e, err := range w.m.Refs.Log(ctx, rev.Project.ID, nil) {
		if err != nil {
			return nil, err
		}
		if e.Commit == rev.Commit {
			out := w.setDevice(&Reason{Kind: "commit", Name: e.Commit[:10], Text: e.Subject, Time: e.Time}, e.Device)
			out.note("signed by the device")
			return out, nil
		}
	}
	return nil, &state.NotFoundError{What: "commit", Name: rev.Commit}
}
