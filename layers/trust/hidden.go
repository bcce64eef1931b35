package trust

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// ErrRevoked reports that something depends on a revoked source.
var ErrRevoked = errors.New("depends on a revoked source")

// A RevokedError names data that depends on a revoked source, and the source.
type RevokedError struct {
	What string // as shown to users
	Why  string
}

func (e *RevokedError) Error() string { return e.What + " is hidden: " + e.Why }

// Unwrap returns [ErrRevoked].
func (e *RevokedError) Unwrap() error { return ErrRevoked }

// A markedState is an outline in which hidden items are marked.
type markedState struct {
	of   *state.State
	by   []Revocation
	from []foreign
	st   *state.State
}

// A foreign is a project from which another one's compositions have parts, with the revocations there.
type foreign struct {
	St *state.State
	By []Revocation
}

func (f foreign) same(o foreign) bool { return f.St == o.St && slices.Equal(f.By, o.By) }

// foreigns returns the projects that parts of a state's compositions come from and in which something is revoked.
func foreigns(ctx context.Context, db *state.DB, st *state.State) (out []foreign, err error) {
	for _, p := range st.PartsFrom() {
		f := foreign{}
		if f.St, err = Bare(ctx, db, p); err != nil {
			return nil, err
		}
		if f.By = Revocations(f.St.Revokes); len(f.By) > 0 {
			out = append(out, f)
		}
	}
	return out, nil
}

// Bare is [Outline] without the marks of revocations. The state is empty if p is not the ID of a project, which a
// record of another device can name.
func Bare(ctx context.Context, db *state.DB, p refs.Project) (st *state.State, err error) {
	if strings.Trim(string(p), "0123456789abcdef") != "" {
		return state.NewState(p), nil
	}
	err = db.Refs.ViewRetry(ctx, p, func(tx *refs.Tx) error {
		st, err = db.FoldOutline(ctx, tx, p)
		return err
	})
	return st, err
}

// withRevoked returns a state in which hidden items are marked, and st itself if nothing is hidden.
func withRevoked(ctx context.Context, db *state.DB, st *state.State) (*state.State, error) {
	by := Revocations(st.Revokes)
	from, err := foreigns(ctx, db, st)
	if err != nil || len(by)+len(from) == 0 {
		return st, err
	}
	if was, ok := db.MarkedStates.Load(st.Project); ok {
		if w := was.(markedState); w.of == st && slices.Equal(w.by, by) && slices.EqualFunc(w.from, from, foreign.same) {
			return w.st, nil
		}
	}
	out, err := markHidden(ctx, db, st, by, from)
	if err == nil {
		db.MarkedStates.Store(st.Project, markedState{st, by, from, out})
	}
	return out, err
}

// markHidden returns a copy of a state in which the items that revocations hide are marked: by the revocations of its
// project, and by those of the projects from which its compositions have parts.
func markHidden(ctx context.Context, db *state.DB, st *state.State, by []Revocation, from []foreign) (*state.State, error) {
	out := st.Clone()
	if len(by)+len(from) == 0 {
		return out, nil
	}
	t := &taint{m: db, st: out, by: by, from: from}
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

// A taint finds the items of a project that come from revoked sources.
type taint struct {
	m     *state.DB
	st    *state.State
	by    []Revocation
	from  []foreign
	other map[refs.Project]*taint
}

// markSessions marks sessions and their versions.
func (t *taint) markSessions(ctx context.Context) error {
	for _, s := range t.st.Sessions {
		s.Revoked = t.session(s)
	}
	byRecord := map[objects.Hash]*records.Version{}
	for _, v := range t.st.Versions { // in the order of records: the source of a version comes first
		why, err := t.version(ctx, v, byRecord)
		if err != nil {
			return err
		}
		v.Revoked, byRecord[v.ID] = why, v
	}
	return nil
}

// session returns why a session is hidden, "" if it is not. The subagents of a hidden session are hidden too.
func (t *taint) session(s *state.Session) string {
	seen := map[string]bool{}
	for x := s; x != nil && !seen[x.ID]; x = t.st.Session(x.Parent()) {
		seen[x.ID] = true
		for _, r := range t.by {
			if r.Kind == records.SessionSource && (r.Name == x.ID || r.Name == x.FileID()) {
				return r.why()
			}
		}
	}
	return ""
}

// messages returns the messages of a session with content h that come from revoked tools and hosts.
func (t *taint) messages(ctx context.Context, s *state.Session, h objects.Hash) (TaintedMessages, error) {
	return PlacesAt(ctx, t.m, t.st.Project, s, h, t.by)
}

// version returns why a version is hidden, "" if it is not.
func (t *taint) version(ctx context.Context, v *records.Version, byRecord map[objects.Hash]*records.Version) (string,
	error) {
	s := t.st.Session(v.Session)
	if s == nil {
		return "", nil
	}
	if s.Revoked != "" {
		return s.Revoked, nil
	}
	if base := byRecord[v.Base]; v.Source != "" && base != nil {
		return base.Revoked, nil // it was made from that text
	}
	found, err := t.messages(ctx, s, v.Origin())
	if err != nil || found.empty() {
		return "", err
	}
	plan, err := v.Plan()
	if err != nil {
		return "", nil // fsck reports it; its left-out messages are unknown
	}
	return found.reason(plan.Since, plan.Without), nil
}

// composition returns why a composition is hidden, "" if it is not.
func (t *taint) composition(ctx context.Context, c *records.Composition) (string, error) {
	for i, part := range c.Parts {
		home, err := t.of(ctx, part.Project)
		if err != nil {
			return "", err
		}
		s := home.st.Session(part.Session)
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
			return "its part " + records.ShortID(part.Session) + ":" + part.Label + ": " + why, nil
		}
	}
	return "", nil
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
	if i := slices.IndexFunc(t.from, func(f foreign) bool { return f.St.Project == p }); i >= 0 {
		f = t.from[i]
	} else {
		var err error
		if f.St, err = Bare(ctx, t.m, p); err != nil { // no revocations there
			return nil, err
		}
	}
	o := &taint{m: t.m, st: f.St.Clone(), by: slices.Concat(f.By, t.by)}
	if t.other == nil {
		t.other = map[refs.Project]*taint{}
	}
	t.other[p] = o
	return o, o.markSessions(ctx)
}

// versionOf returns why the version of a part is hidden, "" if it is not.
func (t *taint) versionOf(part records.CompositionPart) string {
	for _, v := range t.st.Versions {
		if v.Session == part.Session && v.Derivation.Output == part.Output {
			return v.Revoked
		}
	}
	return ""
}

// originalPart returns why a part made directly from a session is hidden, "" if it is not.
func (t *taint) originalPart(ctx context.Context, home *taint, c *records.Composition, i int,
	s *state.Session) (string, error) {
	found, err := home.messages(ctx, s, c.Parts[i].Output)
	if err != nil || found.empty() {
		return "", err
	}
	return found.reason(0, c.Without(i)), nil
}

// LeaveOut returns the messages of a session that a compression or composition must exclude, because they come from
// revoked sources. The error is a [*RevokedError] if the whole session is hidden.
func LeaveOut(ctx context.Context, db *state.DB, p refs.Project, s *state.Session, h objects.Hash) ([][2]int, error) {
	st, err := Bare(ctx, db, p)
	if err != nil {
		return nil, err
	}
	by := Revocations(st.Revokes)
	if len(by) == 0 {
		return nil, nil
	}
	t := &taint{m: db, st: st, by: by}
	if why := t.session(s); why != "" {
		return nil, &RevokedError{records.ShortID(s.ID), why}
	}
	found, err := t.messages(ctx, s, h)
	return found.spans(), err
}

// WithoutEntries removes the calls of tools in some messages from L1, with their results. The text of the user and the
// model in them remains.
func WithoutEntries(entries iter.Seq2[refine.Entry, error], spans [][2]int) iter.Seq2[refine.Entry, error] {
	if len(spans) == 0 {
		return entries
	}
	return func(yield func(refine.Entry, error) bool) {
		for e, err := range entries {
			if (err != nil || e.Role != "tool" || originals.Outside(e.N, spans)) && !yield(e, err) {
				return
			}
		}
	}
}

// MayCompress refuses to compress what is hidden, and leaves out what came from revoked tools and hosts.
func MayCompress(ctx context.Context, db *state.DB, rev state.Rev, b *Basis) (err error) {
	b.Without, err = LeaveOut(ctx, db, rev.Project.ID, rev.Session, b.Point.Original)
	if b.Again {
		b.Without = nil // its input is a version
	}
	if err != nil || b.Version == nil {
		return err
	}
	return MayUse(ctx, db, state.Rev{Kind: state.IsVersion, Project: rev.Project, Session: rev.Session, Version: b.Version})
}

// MayUse refuses data that depends on a revoked source. The error is a [*RevokedError].
func MayUse(ctx context.Context, db *state.DB, rev state.Rev) error {
	st, err := Outline(ctx, db, rev.Project.ID)
	if err != nil {
		return err
	}
	if why := st.Revoked(rev); why != "" {
		return &RevokedError{rev.Name(), why}
	}
	return nil
}

// DeviceName returns what a device is called, or the start of its id.
func DeviceName(ctx context.Context, db *state.DB, id string) (string, error) {
	devices, err := Devices(ctx, db)
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
