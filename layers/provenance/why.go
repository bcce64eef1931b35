package provenance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A Reason is a thing in memory with its trust and the things that it is based on.
type Reason struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// the whole id of the session that the name starts with, or ""
	Session string `json:"-"`
	Text    string `json:"text,omitempty"` // its text, or a quote
	// user, assistant or tool: the lowest trust of its speakers; "" if unknown
	Trust   string    `json:"trust,omitempty"`
	Device  string    `json:"device,omitempty"`  // id of the device that recorded it
	By      string    `json:"by,omitempty"`      // name of the device
	Revoked string    `json:"revoked,omitempty"` // why it is hidden
	Notes   []string  `json:"notes"`
	Time    time.Time `json:"time,omitzero"`
	Missing bool      `json:"missing,omitempty"` // it is not in this memory
	Next    []*Reason `json:"next"`
}

// Why returns the reason for rev: the thing with everything it is based on.
func Why(ctx context.Context, db *state.DB, rev state.Rev) (*Reason, error) {
	w := &explainer{m: db, names: map[string]string{}, seen: map[string]*Reason{}}
	devices, err := trust.Devices(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, d := range devices {
		w.names[d.ID] = d.Name
	}
	return w.explain(ctx, rev)
}

// An explainer collects reasons.
type explainer struct {
	m     *state.DB
	names map[string]string  // of devices
	seen  map[string]*Reason // sessions, which many things share
}

// setDevice sets the device of a reason.
func (w *explainer) setDevice(r *Reason, device string) *Reason {
	if r.Device = device; device != "" {
		r.By = w.names[device]
		if r.By == "" {
			r.By = device[:min(8, len(device))]
		}
	}
	return r
}

func (w *explainer) explain(ctx context.Context, rev state.Rev) (*Reason, error) {
	switch rev.Kind {
	case state.IsRule:
		return w.rule(ctx, rev)
	case state.IsConcept:
		return w.concept(ctx, rev)
	case state.IsFact:
		return w.fact(ctx, rev.Project.ID, *rev.Fact, true)
	case state.IsVersion:
		return w.version(ctx, rev)
	case state.IsComposition:
		return w.composition(ctx, rev)
	case state.IsMessages:
		return w.messages(ctx, rev)
	case state.IsObject:
		return w.object(ctx, rev)
	case state.IsCommit:
		return w.commit(ctx, rev)
	}
	s, err := w.session(ctx, rev.Project.ID, rev.Session.ID, rev.Hash)
	if err != nil || rev.Kind != state.IsL1 && rev.Kind != state.IsL2 {
		return s, err
	}
	out := &Reason{Kind: string(rev.Kind), Name: records.ShortID(rev.Session.ID) + ":" + string(rev.Kind),
		Session: rev.Session.ID, Revoked: s.Revoked, Next: []*Reason{s}}
	if rev.Kind == state.IsL1 {
		out.Trust, out.Notes = "tool", []string{"computed from the clean transcript alone"}
		return out, nil
	}
	known, err := revision.Facts(ctx, w.m, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	for _, x := range known.LiveExchanges(rev.Session.ID) {
		for _, f := range x.Facts {
			r, err := w.fact(ctx, rev.Project.ID, f, false)
			if err != nil {
				return nil, err
			}
			out.Next = append(out.Next, r)
		}
	}
	return out, nil
}

// rule explains a rule by its quotes and facts, revoked ones included, and the acts on it.
func (w *explainer) rule(ctx context.Context, rev state.Rev) (*Reason, error) {
	r := rev.Rule
	out := w.setDevice(&Reason{Kind: "rule", Name: r.ID, Text: ruleWords(r.Problem, r.Text), Trust: r.Trust.String(),
		Revoked: r.Revoked, Time: r.Created}, r.Device)
	out.note("%s, %s, confidence %d%%", r.Type, r.State, r.Confidence)
	if r.Stated {
		out.note("stated by the user")
	}
	if r.LostEvidence > 0 {
		out.note("%s of evidence revoked", records.Numbered(r.LostEvidence, "piece", "pieces"))
	}
	records, err := w.m.Upper(ctx, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	made, acts, err := ruleRecords(records, r.Record)
	if err != nil {
		return nil, err
	}
	for _, word := range made.Quotes {
		n, err := w.quote(ctx, rev.Project.ID, word)
		if err != nil {
			return nil, err
		}
		out.Next = append(out.Next, n)
	}
	known, err := revision.Facts(ctx, w.m, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	for _, key := range made.Evidence {
		n, err := w.factByKey(ctx, rev.Project.ID, known, key)
		if err != nil {
			return nil, err
		}
		out.Next = append(out.Next, n)
	}
	for _, a := range acts {
		n, err := w.act(ctx, rev.Project.ID, known, a)
		if err != nil {
			return nil, err
		}
		out.Next = append(out.Next, n)
	}
	return out, nil
}

// act explains an act on a rule by its quote or fact.
func (w *explainer) act(ctx context.Context, project refs.Project, known *facts.Set, a ruleAct) (*Reason, error) {
	out := w.setDevice(&Reason{Kind: "act", Name: a.body.Act, Text: a.body.Reason, Time: a.Time,
		Trust: facts.Assistant.String()}, a.Device)
	if a.body.ByUser || a.body.Quote != nil {
		out.Trust = facts.User.String()
	}
	if a.body.Quote != nil {
		said, err := w.quote(ctx, project, *a.body.Quote)
		if err != nil {
			return nil, err
		}
		out.Next = append(out.Next, said)
	}
	if a.body.Evidence != "" {
		f, err := w.factByKey(ctx, project, known, a.body.Evidence)
		if err != nil {
			return nil, err
		}
		out.Next = append(out.Next, f)
	}
	return out, nil
}

func ruleWords(problem, text string) string {
	if problem == "" {
		return text
	}
	return problem + ": " + text
}

func (r *Reason) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// factByKey explains the fact with a key.
func (w *explainer) factByKey(ctx context.Context, p refs.Project, known *facts.Set, key string) (*Reason, error) {
	for f := range known.All() {
		if f.Key().String() == key {
			return w.fact(ctx, p, *f, true)
		}
	}
	return &Reason{Kind: "fact", Name: "f:" + key[:min(8, len(key))], Missing: true}, nil
}

// fact explains a fact by its quotes with their speakers and, if whole is set, its session.
func (w *explainer) fact(ctx context.Context, p refs.Project, f facts.Fact, whole bool) (*Reason, error) {
	out := w.setDevice(&Reason{Kind: "fact", Name: f.ID, Text: f.Text, Trust: f.Trust.String(), Revoked: f.Revoked,
		Time: f.Time}, f.Device)
	out.note("%s, %s", f.Kind, f.Verdict)
	if f.VerifiedBy != "" {
		out.note("verified by %s", f.VerifiedBy)
	}
	for _, n := range f.Notes {
		out.note("%s", n)
	}
	out.noteFate(f)
	speakers, err := knowledge.Speakers(ctx, w.m, p, f)
	if err != nil {
		return nil, err
	}
	for i, e := range f.Evidence {
		by := speakers[i]
		n := &Reason{Kind: "message", Name: fmt.Sprintf("%s#%d", records.ShortID(f.Session), e.Message), Text: e.Quote,
			Session: f.Session, Missing: by == ""}
		if by != "" {
			n.Trust = speakerTrust(by, f.Kind)
			n.note("said by %s", by)
		}
		out.Next = append(out.Next, n)
	}
	if f.Session == "" || !whole {
		return out, nil
	}
	s, err := w.session(ctx, p, f.Session, objects.Hash{})
	if err == nil {
		out.Next = append(out.Next, s)
	}
	return out, err
}

// noteFate adds why a fact no longer counts.
func (r *Reason) noteFate(f facts.Fact) {
	if f.SupersededBy != "" {
		r.note("superseded by %s", f.SupersededBy)
	}
	if f.Refuted {
		r.note("%s", strings.TrimSpace("refuted "+f.RefutedBy))
	}
	if f.Removed {
		r.note("removed")
	}
}

// speakerTrust returns the trust of a fact stated by a speaker.
func speakerTrust(who string, k facts.Kind) string {
	for _, s := range []facts.Speaker{facts.ByUser, facts.ByScript, facts.ByAssistant, facts.ByPlan} {
		if s.String() == who {
			return s.Trust(k).String()
		}
	}
	return facts.Tool.String()
}

// concept explains a concept by its exchanges and their facts.
func (w *explainer) concept(ctx context.Context, rev state.Rev) (*Reason, error) {
	c := rev.Concept
	out := w.setDevice(&Reason{Kind: "concept", Name: c.Label, Text: c.Name, Trust: facts.Assistant.String(),
		Revoked: c.Revoked, Time: c.Updated}, c.Device)
	if c.Topic != "" {
		out.note("%s", c.Topic)
	}
	if c.Doubt != "" {
		out.note("%s", c.Doubt)
	}
	known, err := revision.Facts(ctx, w.m, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	set, err := revision.Concepts(ctx, w.m, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	for i := range known.Exchanges {
		x := &known.Exchanges[i]
		if m := set.MembershipOf(x.ID, x.Session); m.Concept == nil || m.Concept.Record != c.Record {
			continue
		}
		n := w.setDevice(&Reason{Kind: "exchange", Name: x.ID, Text: x.Topic, Trust: facts.Assistant.String(),
			Revoked: x.Revoked,
			Time:    x.Time}, x.Device)
		n.note("messages %d-%d of %s", x.From, x.To, records.ShortID(x.Session))
		for _, f := range x.Facts {
			r, err := w.fact(ctx, rev.Project.ID, f, false)
			if err != nil {
				return nil, err
			}
			n.Next = append(n.Next, r)
		}
		out.Next = append(out.Next, n)
	}
	for _, id := range c.Sessions {
		s, err := w.session(ctx, rev.Project.ID, id, objects.Hash{})
		if err != nil {
			return nil, err
		}
		out.Next = append(out.Next, s)
	}
	return out, nil
}

// version explains a version by its source, recipe and witnesses.
func (w *explainer) version(ctx context.Context, rev state.Rev) (*Reason, error) {
	v := rev.Version
	st, err := trust.Outline(ctx, w.m, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	out := w.setDevice(&Reason{Kind: "version", Name: rev.Name(), Session: v.Session, Revoked: st.Revoked(rev),
		Time: v.Time}, v.Device)
	out.note("b3:%s, recipe %s/%d, engine %s", v.Derivation.Output.Short(), v.Derivation.Recipe.Step,
		v.Derivation.Recipe.Version, v.Engine)
	if plan, err := v.Plan(); err == nil && len(plan.Without) > 0 {
		out.note("without the tool calls in messages %s", spansText(plan.Without))
	}
	segs, err := checkout.VersionSegments(ctx, w.m, rev.Project.ID, v)
	switch {
	case errors.Is(err, objects.ErrNotFound):
		out.Missing = true
	case err != nil:
		return nil, err
	}
	out.Trust = leastTrust(segs)
	for _, h := range v.Derivation.Witnesses {
		out.Next = append(out.Next, &Reason{Kind: "witness", Name: "b3:" + h.Short(), Trust: facts.Assistant.String(),
			Notes: []string{"request to a model, or its answer"}})
	}
	for _, b := range st.Versions {
		if s := st.Session(b.Session); v.Source != "" && b.ID == v.Base && s != nil {
			r, err := w.version(ctx, revision.At(state.Rev{Project: rev.Project, Session: s}, b))
			if err == nil {
				out.Next = append(out.Next, r)
			}
			return out, err
		}
	}
	s, err := w.session(ctx, rev.Project.ID, v.Session, v.Origin())
	if err == nil {
		out.Next = append(out.Next, s)
	}
	return out, err
}

func spansText(spans [][2]int) string {
	var out []string
	for _, s := range spans {
		if s[0] == s[1] {
			out = append(out, fmt.Sprint(s[0]))
		} else {
			out = append(out, fmt.Sprintf("%d-%d", s[0], s[1]))
		}
	}
	return strings.Join(out, ", ")
}

// leastTrust returns the lowest trust of the speakers in a text.
func leastTrust(segs []version.Segment) string {
	if len(segs) == 0 {
		return ""
	}
	least := facts.User
	for _, s := range segs {
		switch s.Role {
		case "user":
		case "script":
			least = min(least, facts.Script)
		case "assistant":
			least = min(least, facts.Assistant)
		default:
			least = facts.Tool
		}
	}
	return least.String()
}

// composition explains a composition by its parts.
func (w *explainer) composition(ctx context.Context, rev state.Rev) (*Reason, error) {
	c := rev.Composition
	st, err := trust.Outline(ctx, w.m, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	out := w.setDevice(&Reason{Kind: "composition", Name: c.Name, Revoked: st.Revoked(rev), Time: c.Time}, c.Device)
	out.note("b3:%s, recipe %s/%d, %d of %d tokens", c.Derivation.Output.Short(), c.Derivation.Recipe.Step,
		c.Derivation.Recipe.Version, c.Tokens, c.Budget)
	text, err := checkout.Composed(ctx, w.m, rev)
	switch {
	case errors.Is(err, objects.ErrNotFound):
		out.Missing = true
	case err != nil:
		return nil, err
	}
	out.Trust = leastTrust(allSegments(text))
	for _, part := range c.Parts {
		r, err := w.part(ctx, part)
		if err != nil {
			return nil, err
		}
		out.Next = append(out.Next, r)
	}
	for _, h := range c.Derivation.Inputs[min(len(c.Parts), len(c.Derivation.Inputs)):] {
		out.Next = append(out.Next, &Reason{Kind: "facts", Name: "b3:" + h.Short(), Trust: facts.Assistant.String(),
			Notes: []string{"the facts of its sessions"}})
	}
	return out, nil
}

func allSegments(c compose.Composition) (out []version.Segment) {
	for _, p := range c.Parts {
		out = append(out, p.Segments...)
	}
	return out
}

func (w *explainer) part(ctx context.Context, part records.CompositionPart) (*Reason, error) {
	rev, err := partRev(ctx, w.m, part)
	switch {
	case err != nil:
		return nil, err
	case rev.Session == nil:
		return &Reason{Kind: "part", Name: records.ShortID(part.Session) + ":" + part.Label, Session: part.Session,
			Missing: true}, nil
	case rev.Kind == state.IsVersion:
		return w.version(ctx, rev)
	}
	return w.session(ctx, part.Project, part.Session, part.Output)
}

// session explains a session by its device and source. Its trust is that of tools, because it contains their output.
func (w *explainer) session(ctx context.Context, p refs.Project, id string, h objects.Hash) (*Reason, error) {
	key := string(p) + id + h.String()
	if r := w.seen[key]; r != nil {
		return r, nil
	}
	st, err := trust.Outline(ctx, w.m, p)
	if err != nil {
		return nil, err
	}
	s := st.Session(id)
	if s == nil {
		return &Reason{Kind: "session", Name: records.ShortID(id), Session: id, Missing: true}, nil
	}
	at := state.PointOf(s, h)
	out := w.setDevice(&Reason{Kind: "session", Name: records.ShortID(id), Text: s.Title(), Trust: facts.Tool.String(),
		Session: id, Revoked: s.Revoked, Time: at.Time}, at.Stamp.Device)
	out.note("%d messages, b3:%s", at.Scan.Messages, at.Original.Short())
	for _, n := range [][2]string{{"captured from ", s.Source()}, {"Claude Code ", at.Scan.Version},
		{"model ", at.Scan.Model}, {"in ", at.Scan.Cwd}, {"started by ", records.ShortID(s.Parent())}} {
		if n[1] != "" {
			out.note("%s%s", n[0], n[1])
		}
	}
	var others []string
	for _, q := range s.Points {
		if d := q.Stamp.Device; d != at.Stamp.Device && !slices.Contains(others, w.setDevice(&Reason{}, d).By) {
			others = append(others, w.setDevice(&Reason{}, d).By)
		}
	}
	if len(others) > 0 {
		out.note("also captured by %s", strings.Join(others, ", "))
	}
	w.seen[key] = out
	return out, nil
}
