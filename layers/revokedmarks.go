package layers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/tier"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// ErrRevoked says that something rests on a source that was revoked.
var ErrRevoked = errors.New("rests on a source that was revoked")

// A RevokedError says what rests on which revoked source.
type RevokedError struct {
	What string // as people write it
	Why  string
}

func (e *RevokedError) Error() string { return e.What + " is hidden: " + e.Why }

// Unwrap returns [ErrRevoked].
func (e *RevokedError) Unwrap() error { return ErrRevoked }

// A markedState is an outline with what revocations hide in it.
type markedState struct {
	of   *State
	by   []Revocation
	from []foreign
	st   *State
}

// A foreign is a project that parts of another one's compositions come from, with what is revoked there.
type foreign struct {
	st *State
	by []Revocation
}

func (f foreign) same(o foreign) bool { return f.st == o.st && slices.Equal(f.by, o.by) }

// foreigns returns the projects that parts of a state's compositions come from and in which something is revoked.
func (m *Memory) foreigns(ctx context.Context, st *State) (out []foreign, err error) {
	for _, p := range st.partsFrom() {
		f := foreign{}
		if f.st, err = m.bare(ctx, p); err != nil {
			return nil, err
		}
		all, err := m.revocationsOf(ctx, f.st)
		if err != nil {
			return nil, err
		}
		if f.by = inForce(all); len(f.by) > 0 {
			out = append(out, f)
		}
	}
	return out, nil
}

// partsFrom returns the other projects that parts of compositions come from, in the order of compositions.
func (st *State) partsFrom() (out []refs.Project) {
	for _, c := range st.Compositions {
		for _, part := range c.Parts {
			if part.Project != st.Project && !slices.Contains(out, part.Project) {
				out = append(out, part.Project)
			}
		}
	}
	return out
}

// bare is [Memory.Outline] without the marks of revocations. What a record of another device names as a project and is no
// name of one has nothing in it.
func (m *Memory) bare(ctx context.Context, p refs.Project) (st *State, err error) {
	if strings.Trim(string(p), "0123456789abcdef") != "" {
		return newState(p), nil
	}
	err = m.repo.Look(ctx, p, func(tx *refs.Tx) error {
		st, err = m.outline(ctx, tx, p)
		return err
	})
	return st, err
}

// withRevoked returns a state with what is hidden marked; st itself where nothing is.
func (m *Memory) withRevoked(ctx context.Context, st *State) (*State, error) {
	all, err := m.revocationsOf(ctx, st)
	if err != nil {
		return nil, err
	}
	by := inForce(all)
	from, err := m.foreigns(ctx, st)
	if err != nil || len(by)+len(from) == 0 {
		return st, err
	}
	if was, ok := m.markedStates.Load(st.Project); ok {
		if w := was.(markedState); w.of == st && slices.Equal(w.by, by) && slices.EqualFunc(w.from, from, foreign.same) {
			return w.st, nil
		}
	}
	out, err := m.marked(ctx, st, by, from)
	if err == nil {
		m.markedStates.Store(st.Project, markedState{st, by, from, out})
	}
	return out, err
}

// marked returns a copy of a state in which what revocations hide is marked: those of its project, and those of the projects that
// parts of its compositions come from.
func (m *Memory) marked(ctx context.Context, st *State, by []Revocation, from []foreign) (*State, error) {
	out := st.clone()
	if len(by)+len(from) == 0 {
		return out, nil
	}
	t := &taint{m: m, st: out, by: by, from: from}
	if err := t.markSessions(ctx); err != nil {
		return nil, err
	}
	for _, c := range out.Compositions {
		why, err := t.composition(ctx, c)
		if err != nil {
			return nil, err
		}
		c.Revoked = why
	}
	return out, nil
}

// clone copies the things of a state that can be marked, so that st stays as it is.
func (st *State) clone() *State {
	out := *st
	out.byID, out.Sessions, out.Versions, out.Compositions = nil, nil, nil, nil
	for _, s := range st.Sessions {
		c := *s
		c.Revoked = ""
		out.Sessions = append(out.Sessions, &c)
	}
	for _, v := range st.Versions {
		c := *v
		c.Revoked = ""
		out.Versions = append(out.Versions, &c)
	}
	for _, k := range st.Compositions {
		c := *k
		c.Revoked = ""
		out.Compositions = append(out.Compositions, &c)
	}
	out.index()
	return &out
}

// A taint finds out what in a project came from revoked sources.
type taint struct {
	m     *Memory
	st    *State
	by    []Revocation
	from  []foreign
	other map[refs.Project]*taint
}

// markSessions marks sessions and their versions.
func (t *taint) markSessions(ctx context.Context) error {
	for _, s := range t.st.Sessions {
		s.Revoked = t.session(s)
	}
	byRecord := map[objects.Hash]*Version{}
	for _, v := range t.st.Versions { // in the order of records: what a version was made from comes before it
		why, err := t.version(ctx, v, byRecord)
		if err != nil {
			return err
		}
		v.Revoked, byRecord[v.ID] = why, v
	}
	return nil
}

// session says why a session is hidden, "" if it is not. What a hidden one started is hidden too.
func (t *taint) session(s *Session) string {
	seen := map[string]bool{}
	for x := s; x != nil && !seen[x.ID]; x = t.st.session(x.Parent()) {
		seen[x.ID] = true
		for _, r := range t.by {
			if r.Kind == SessionSource && r.Name == x.ID {
				return r.why()
			}
		}
	}
	return ""
}

// messages returns what in a session, as it was when it had the content h, came from revoked tools and hosts.
func (t *taint) messages(ctx context.Context, s *Session, h objects.Hash) (taintedMessages, error) {
	return t.m.placesAt(ctx, t.st.Project, s, h, t.by)
}

// version says why a version is hidden.
func (t *taint) version(ctx context.Context, v *Version, byRecord map[objects.Hash]*Version) (string, error) {
	s := t.st.session(v.Session)
	if s == nil {
		return "", nil
	}
	if s.Revoked != "" {
		return s.Revoked, nil
	}
	if base := byRecord[v.Base]; v.Source != "" && base != nil {
		return base.Revoked, nil // its text is that one's
	}
	found, err := t.messages(ctx, s, v.Origin())
	if err != nil || found.empty() {
		return "", err
	}
	full, err := t.m.complete(ctx, t.st.Project, v)
	if err != nil {
		return "", err
	}
	plan, err := full.Plan()
	if err != nil {
		return "", nil // fsck names it; nothing can be told of what it left out
	}
	return found.reason(plan.Since, plan.Without), nil
}

// composition says why a composition is hidden.
func (t *taint) composition(ctx context.Context, c *Composition) (string, error) {
	for i, part := range c.Parts {
		home, err := t.of(ctx, part.Project)
		if err != nil {
			return "", err
		}
		s := home.st.session(part.Session)
		if s == nil {
			continue
		}
		why := s.Revoked
		if why == "" && part.Label == "original" {
			why, err = t.originalPart(ctx, home, c, i, s)
		} else if why == "" {
			why = home.versionOf(part)
		}
		if err != nil {
			return "", err
		}
		if why != "" {
			return "its part " + ShortID(part.Session) + ":" + part.Label + ": " + why, nil
		}
	}
	return t.summaryFacts(ctx, c)
}

// of returns the taint of the project of a part.
func (t *taint) of(ctx context.Context, p refs.Project) (*taint, error) {
	if p == t.st.Project {
		return t, nil
	}
	if o := t.other[p]; o != nil {
		return o, nil
	}
	var f foreign
	if i := slices.IndexFunc(t.from, func(f foreign) bool { return f.st.Project == p }); i >= 0 {
		f = t.from[i]
	} else {
		var err error
		if f.st, err = t.m.bare(ctx, p); err != nil { // nothing is revoked there
			return nil, err
		}
	}
	o := &taint{m: t.m, st: f.st.clone(), by: slices.Concat(f.by, t.by)}
	if t.other == nil {
		t.other = map[refs.Project]*taint{}
	}
	t.other[p] = o
	return o, o.markSessions(ctx)
}

// versionOf says why the version that a part is of is hidden.
func (t *taint) versionOf(part CompositionPart) string {
	for _, v := range t.st.Versions {
		if v.Session == part.Session && v.Derivation.Output == part.Output {
			return v.Revoked
		}
	}
	return ""
}

// originalPart says why a part that is a whole session, or what a summary took of one, is hidden.
func (t *taint) originalPart(ctx context.Context, home *taint, c *Composition, i int, s *Session) (string, error) {
	found, err := home.messages(ctx, s, c.Parts[i].Output)
	if err != nil || found.empty() {
		return "", err
	}
	full, err := t.m.completeComposition(ctx, t.st.Project, c)
	if err != nil {
		return "", err
	}
	return found.reason(0, full.without(i)), nil
}

// without returns the messages that part i of a composition leaves out.
func (c *Composition) without(i int) [][2]int {
	if c.Tier == "" {
		var plan composePlan
		if json.Unmarshal(c.Derivation.Recipe.Params, &plan) == nil && i < len(plan.Without) {
			return plan.Without[i]
		}
		return nil
	}
	if plan, err := c.summaryPlan(); err == nil && plan.Parts[i].Base != nil {
		return plan.Parts[i].Base.Without
	}
	return nil
}

// summaryFacts says why the facts in the summary of a week or month hide it.
func (t *taint) summaryFacts(ctx context.Context, c *Composition) (string, error) {
	if c.Tier == "" || len(c.Derivation.Inputs) <= len(c.Parts) {
		return "", nil
	}
	b, err := t.m.object(ctx, t.st.Project, c.Derivation.Inputs[len(c.Parts)])
	if errors.Is(err, objects.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for line := range bytes.Lines(b) {
		var f tier.Fact
		if err := json.Unmarshal(line, &f); err != nil {
			return "", fmt.Errorf("facts of %s: %w", c.Name, err)
		}
		s := t.st.session(f.Session)
		if s == nil {
			continue
		}
		why := s.Revoked
		if why == "" {
			found, err := t.messages(ctx, s, s.Now().Original)
			if err != nil {
				return "", err
			}
			for _, span := range f.Src {
				why = cmp.Or(why, found.in(span[0], span[1]))
			}
		}
		if why != "" {
			return "its fact " + f.ID + ": " + why, nil
		}
	}
	return "", nil
}

// leaveOut takes what came from revoked sources out of what is compressed or composed, and returns what that is.
func (m *Memory) leaveOut(ctx context.Context, p refs.Project, s *Session, h objects.Hash) ([][2]int, error) {
	st, err := m.bare(ctx, p)
	if err != nil {
		return nil, err
	}
	all, err := m.revocationsOf(ctx, st)
	if err != nil || len(inForce(all)) == 0 {
		return nil, err
	}
	t := &taint{m: m, st: st, by: inForce(all)}
	if why := t.session(s); why != "" {
		return nil, &RevokedError{ShortID(s.ID), why}
	}
	found, err := t.messages(ctx, s, h)
	return found.spans(), err
}

// outside reports whether a message is in none of the spans.
func outside(n int, spans [][2]int) bool {
	return !slices.ContainsFunc(spans, func(s [2]int) bool { return n >= s[0] && n <= s[1] })
}

// withoutEntries leaves out of L1 the calls of tools in some messages, with what they returned. What the user and the model said
// in them stays.
func withoutEntries(entries iter.Seq2[refine.Entry, error], spans [][2]int) iter.Seq2[refine.Entry, error] {
	if len(spans) == 0 {
		return entries
	}
	return func(yield func(refine.Entry, error) bool) {
		for e, err := range entries {
			if (err != nil || e.Role != "tool" || outside(e.N, spans)) && !yield(e, err) {
				return
			}
		}
	}
}

// mayCompress refuses to compress what is hidden, and leaves out what came from revoked tools and hosts.
func (m *Memory) mayCompress(ctx context.Context, rev Rev, b *basis) (err error) {
	b.without, err = m.leaveOut(ctx, rev.Project.ID, rev.Session, b.point.Original)
	if b.again {
		b.without = nil // its text is a version's
	}
	if err != nil || b.version == nil {
		return err
	}
	return m.mayUse(ctx, Rev{Kind: IsVersion, Project: rev.Project, Session: rev.Session, Version: b.version})
}

// mayUse refuses what rests on a revoked source. The error is a [*RevokedError].
func (m *Memory) mayUse(ctx context.Context, rev Rev) error {
	st, err := m.Outline(ctx, rev.Project.ID)
	if err != nil {
		return err
	}
	if why := st.revoked(rev); why != "" {
		return &RevokedError{rev.Name(), why}
	}
	return nil
}

// revoked says why what rev names is hidden, "" if it is not.
func (st *State) revoked(rev Rev) string {
	switch rev.Kind {
	case IsVersion:
		for _, v := range st.Versions {
			if v.ID == rev.Version.ID {
				return v.Revoked
			}
		}
	case IsComposition:
		for _, c := range st.Compositions {
			if c.ID == rev.Composition.ID {
				return c.Revoked
			}
		}
	case IsFact:
		return rev.Fact.Revoked
	case IsConcept:
		return rev.Concept.Revoked
	case IsRule:
		return rev.Rule.Revoked
	default:
		if rev.Session != nil {
			if s := st.session(rev.Session.ID); s != nil {
				return s.Revoked
			}
		}
	}
	return ""
}

// An UntrustedError says that something was made by a device that is not trusted.
type UntrustedError struct {
	What   string
	Device string // its name
}

func (e *UntrustedError) Error() string {
	return fmt.Sprintf("%s was made by device %s, which you do not trust", e.What, e.Device)
}

// ErrUntrusted says that something was made by a device that is not trusted.
var ErrUntrusted = errors.New("made by a device that is not trusted")

// Unwrap returns [ErrUntrusted].
func (e *UntrustedError) Unwrap() error { return ErrUntrusted }

// MayHand refuses to hand to a session what rests on a revoked source, or is a text that was made by a device that is not
// trusted. The error is a [*RevokedError] or an [*UntrustedError].
func (m *Memory) MayHand(ctx context.Context, rev Rev) error {
	if err := m.mayUse(ctx, rev); err != nil {
		return err
	}
	device := ""
	switch rev.Kind {
	case IsVersion:
		device = rev.Version.Device
	case IsComposition:
		device = rev.Composition.Device
	default:
		return nil
	}
	trust, err := m.Trust(ctx)
	if err != nil || trust.Of(device) {
		return err
	}
	name, err := m.DeviceName(ctx, device)
	if err != nil {
		return err
	}
	return &UntrustedError{rev.Name(), name}
}

// DeviceName returns what a device is called, or the start of its id.
func (m *Memory) DeviceName(ctx context.Context, id string) (string, error) {
	devices, err := m.Devices(ctx)
	if err != nil {
		return "", err
	}
	for _, d := range devices {
		if d.ID == id {
			return d.Name, nil
		}
	}
	return id[:min(8, len(id))], nil
}
