package layers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/concepts"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/permanent"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A Kind says what a revision names.
type Kind string

// The kinds of revisions.
const (
	IsSession     Kind = "session"
	IsOriginal    Kind = "original"
	IsEarlier     Kind = "past-original" // the original before its file was rewritten
	IsL1          Kind = "L1"
	IsL2          Kind = "L2" // the facts of a session
	IsFact        Kind = "fact"
	IsVersion     Kind = "version"
	IsComposition Kind = "composition"
	IsMessages    Kind = "messages"
	IsObject      Kind = "object"
	IsCommit      Kind = "commit"
	IsConcept     Kind = "concept"
	IsRule        Kind = "rule"
)

// A Rev is what a revision names. Which fields are set follows from Kind.
type Rev struct {
	Kind        Kind
	Project     Project
	Session     *Session
	Version     *Version
	Composition *Composition
	Concept     *concepts.Concept
	Rule        *permanent.Rule
	Point       *Point       // of an earlier original
	Hash        objects.Hash // of the object it is: the clean original, the version's or composition's output
	Commit      string
	From, To    int // of messages
	Fact        *facts.Fact
	Device      string // that the name of the session ended in, or the start of its id
	How         string // how the name was resolved, for people
}

// A Scope is where names are looked up.
type Scope struct {
	Project Project  // looked in first
	Last    *Session // the session named last in the command, for bare labels; nil is "@"
	Strict  bool     // look in no other project
}

// ErrLayer says that a layer of a session does not exist.
var ErrLayer = errors.New("no such layer")

// Resolve finds what the revision s names (design: abc1, @~2, abc1:v002, abc1#12..18, name@{1},
// b3:9f2c, HEAD~1). The error is a [*NotFoundError], an [*AmbiguousError] or one of the store.
func (m *Memory) Resolve(ctx context.Context, sc Scope, s string) (Rev, error) {
	switch {
	case strings.HasPrefix(s, "b3:"):
		return m.resolveObject(ctx, sc, s)
	case s == "HEAD" || strings.HasPrefix(s, "HEAD~"):
		return m.resolveCommit(ctx, sc, s)
	}
	if what := upperNamed(s); what != "" {
		return m.resolveUpper(ctx, sc, what, s)
	}
	name, sub, hasSub := strings.Cut(s, ":")
	messages, hasMessages := "", false
	if !hasSub {
		name, messages, hasMessages = strings.Cut(s, "#")
	}
	if label := normalLabel(s); label != "" {
		return m.resolveLabel(ctx, sc, label)
	}
	if !hasSub && !hasMessages {
		if rev, ok, err := m.resolveComposition(ctx, sc, s); ok || err != nil {
			return rev, err
		}
	}
	rev, err := m.resolveSession(ctx, sc, name)
	var missing *NotFoundError
	if _, _, ok := m.deviceSuffix(ctx, sub); ok && errors.As(err, &missing) && len(missing.Guests) == 1 {
		rev, err = m.resolveSession(ctx, sc, missing.Guests[0]) // abc1:v001~desk of a session that only such devices have
	}
	if err != nil {
		return rev, err
	}
	switch {
	case hasSub:
		return m.resolveSub(ctx, rev, sub)
	case hasMessages:
		return resolveMessages(rev, messages)
	}
	return rev, nil
}

// normalLabel returns s if it is the label of a version: v001, v12, v002~desk; else "".
func normalLabel(s string) string {
	digits, _, _ := strings.Cut(strings.TrimPrefix(s, "v"), "~")
	if n, err := strconv.Atoi(digits); err == nil && n > 0 && strings.HasPrefix(s, "v") && digits[0] != '+' {
		return "v" + fmt.Sprintf("%03d", n) + s[1+len(digits):]
	}
	return ""
}

// IsLabel reports whether s could be the label of a version.
func IsLabel(s string) bool { return normalLabel(s) != "" }

// scoped calls f with the state of the scope's project and then, until it says it is done, of all others.
func (m *Memory) scoped(ctx context.Context, sc Scope, f func(p Project, st *State) (done bool)) error {
	st, err := m.Outline(ctx, sc.Project.ID)
	if err != nil {
		return err
	}
	if f(sc.Project, st) || sc.Strict {
		return nil
	}
	ids, err := m.repo.Projects()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if id == sc.Project.ID {
			continue
		}
		st, err := m.Outline(ctx, id)
		if err != nil {
			return err
		}
		if f(st.project(), st) {
			return nil
		}
	}
	return nil
}

// resolveSession finds a session by "@", "@~n", full id, unique prefix, or title.
func (m *Memory) resolveSession(ctx context.Context, sc Scope, name string) (Rev, error) {
	if strings.HasPrefix(name, "@") {
		return m.resolveRecent(ctx, sc, name)
	}
	var found []Rev
	var near []string // the sessions of the scope's project, or of all if it has none
	inScope, known := false, false
	base, device, hasDevice := m.deviceSuffix(ctx, name)
	var guests []string
	err := m.scoped(ctx, sc, func(p Project, st *State) bool {
		var names []string
		for _, s := range st.Sessions {
			if how := s.matches(name); how != "" && s.Guest == "" {
				rev := Rev{Kind: IsSession, Project: p, Session: s, Hash: s.Now().Original, How: how}
				if s.ID == name {
					found = []Rev{rev}
					return true
				}
				found = append(found, rev)
			} else if one := s.named(base, device); hasDevice && one != nil {
				found = append(found, Rev{Kind: IsSession, Project: p, Session: one, Hash: one.Now().Original, Device: device, How: one.matches(base)})
			} else if how != "" {
				guests = append(guests, s.Name())
			} else if s.shown() && s.Parent() == "" {
				names = append(names, s.Name())
			}
		}
		for _, c := range st.Compositions {
			if !c.Deleted && !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
		if p.ID == sc.Project.ID || !known {
			near, known = append(near, names...), known || p.ID == sc.Project.ID && len(names) > 0
		}
		inScope = p.ID == sc.Project.ID && len(found) > 0
		return inScope && len(name) < fullIDLength
	})
	if err != nil {
		return Rev{}, err
	}
	found = preferSessions(preferShown(found))
	switch len(found) {
	case 0:
		return Rev{}, &NotFoundError{What: "session", Name: name, Candidates: near, Guests: guests}
	case 1:
		return found[0], nil
	}
	return Rev{}, &AmbiguousError{What: "session", Name: name, Candidates: describeAll(found)}
}

// fullIDLength is the length of a session's UUID; a name as long is looked for everywhere.
const fullIDLength = 36

// describeAll writes the ids and titles of sessions; the ids are whole where their starts are the same.
func describeAll(found []Rev) []string {
	starts := map[string]int{}
	for _, r := range found {
		starts[ShortID(r.Session.ID)]++
	}
	var names []string
	for _, r := range found {
		id := r.Session.Name()
		if starts[ShortID(r.Session.ID)] > 1 {
			id = r.Session.ID
		}
		if t := r.Session.Now().Scan.Title; t != "" {
			id += fmt.Sprintf(" %q", t)
		}
		names = append(names, id)
	}
	return names
}

// preferShown drops deleted and hidden sessions when there are others.
func preferShown(found []Rev) []Rev {
	shown := slices.DeleteFunc(slices.Clone(found), func(r Rev) bool { return !r.Session.shown() })
	if len(shown) > 0 {
		return shown
	}
	return found
}

// preferSessions drops subagents whose ids begin with the name only behind "agent-" when there are others: what a list
// prints for a session names it.
func preferSessions(found []Rev) []Rev {
	direct := slices.DeleteFunc(slices.Clone(found), func(r Rev) bool { return r.How == subagentPrefix })
	if len(direct) > 0 {
		return direct
	}
	return found
}

// subagentPrefix is how a name fits that is the beginning of a subagent's id without "agent-".
const subagentPrefix = "prefix of a subagent's id"

// matches reports how a name fits the session, "" if it does not.
func (s *Session) matches(name string) string {
	switch {
	case s.ID == name:
		return "full id"
	case len(name) >= 4 && strings.HasPrefix(s.ID, name):
		return "prefix of an id"
	case len(name) >= 4 && strings.HasPrefix(s.ID, "agent-"+name):
		return subagentPrefix
	case name != "" && strings.EqualFold(s.Now().Scan.Title, name):
		return "title"
	}
	return ""
}

// shown reports whether the session is in the lists.
func (s *Session) shown() bool { return !s.Deleted && s.Revoked == "" }

// Recent returns the sessions of a state, the newest first, without subagents, deleted and hidden ones, and those that only devices
// which are not trusted have.
func (st *State) Recent() []*Session {
	var out []*Session
	for _, s := range st.Sessions {
		if s.shown() && s.Parent() == "" && s.Guest == "" {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b *Session) int {
		return cmp.Or(b.Now().Scan.Last.Compare(a.Now().Scan.Last), cmp.Compare(a.ID, b.ID))
	})
	return out
}

func (m *Memory) resolveRecent(ctx context.Context, sc Scope, name string) (Rev, error) {
	back := 0
	if name != "@" {
		n, err := strconv.Atoi(strings.TrimPrefix(name, "@~"))
		if err != nil || n < 0 || !strings.HasPrefix(name, "@~") {
			return Rev{}, &NotFoundError{What: "session", Name: name}
		}
		back = n
	}
	st, err := m.Outline(ctx, sc.Project.ID)
	if err != nil {
		return Rev{}, err
	}
	recent := st.Recent()
	if back >= len(recent) {
		missing := &NotFoundError{What: "session", Name: name}
		if len(recent) == 0 {
			missing.Guests = st.guests()
		}
		if n := len(recent); n > 0 {
			missing.Candidates = []string{fmt.Sprintf("@~%d", n-1)}
		}
		return Rev{}, missing
	}
	s := recent[back]
	return Rev{Kind: IsSession, Project: sc.Project, Session: s, Hash: s.Now().Original, How: fmt.Sprintf("session %d from the newest", back+1)}, nil
}

// resolveSub resolves what stands behind the colon.
func (m *Memory) resolveSub(ctx context.Context, rev Rev, sub string) (Rev, error) {
	if len(sub) > len("original@{") && strings.EqualFold(sub[:len("original@{")], "original@{") {
		return resolveEarlier(rev, sub)
	}
	switch strings.ToLower(sub) {
	case "original":
		rev.Kind = IsOriginal
		return rev, nil
	case "l1":
		rev.Kind, rev.Hash = IsL1, objects.Hash{} // its own name is known when it is made
		return rev, nil
	case "l2":
		rev.Kind, rev.Hash = IsL2, objects.Hash{} // it is a view
		return rev, nil
	case "l3", "l4":
		return rev, fmt.Errorf("%s of %s: %w", strings.ToUpper(sub), ShortID(rev.Session.ID), ErrLayer)
	}
	st, err := m.Outline(ctx, rev.Project.ID)
	if err != nil {
		return rev, err
	}
	versions := st.VersionsOf(rev.Session.ID)
	means := func(v *Version) bool { return !v.guest } // a name without a device
	by := func(v *Version) bool { return rev.Device != "" && strings.HasPrefix(v.Device, rev.Device) }
	if meant := slices.DeleteFunc(slices.Clone(versions), func(v *Version) bool { return !by(v) }); len(meant) > 0 {
		means = by
	}
	if meant := slices.DeleteFunc(slices.Clone(versions), func(v *Version) bool { return !means(v) }); strings.EqualFold(sub, "latest") && len(meant) > 0 {
		return m.at(ctx, rev, meant[len(meant)-1])
	}
	var labels []string
	for _, v := range versions {
		labels = append(labels, v.Name())
	}
	label, device, _ := strings.Cut(normalLabel(m.WithDevice(ctx, sub)), "~")
	var found []*Version
	for _, v := range st.AllVersionsOf(rev.Session.ID) { // a hidden one can be named
		if v.Label == label && (device == "" && means(v) || device != "" && strings.HasPrefix(v.Device, device)) {
			found = append(found, v)
		}
	}
	if shown := slices.DeleteFunc(slices.Clone(found), func(v *Version) bool { return v.Deleted }); len(shown) > 0 {
		found = shown
	}
	if i := slices.IndexFunc(found, func(v *Version) bool { return v.Device == m.repo.Device().ID }); i >= 0 && device == "" {
		found = found[i : i+1]
	}
	switch len(found) {
	case 0:
		missing := &NotFoundError{What: "version", Name: sub, Of: ShortID(rev.Session.ID), Candidates: labels}
		for _, v := range versions {
			if v.guest && v.Label == label && device == "" {
				missing.Guests = append(missing.Guests, ShortID(rev.Session.ID)+":"+v.Name())
			}
		}
		return rev, missing
	case 1:
		return m.at(ctx, rev, found[0])
	}
	var names []string
	for _, v := range found {
		names = append(names, v.Label+"~"+v.Device[:8])
	}
	return rev, &AmbiguousError{What: "version", Name: sub, Candidates: names}
}

// at returns the revision of a version, which it completes.
func (m *Memory) at(ctx context.Context, r Rev, v *Version) (Rev, error) {
	r.Kind, r.Hash = IsVersion, v.Derivation.Output
	var err error
	r.Version, err = m.complete(ctx, r.Project.ID, v)
	return r, err
}

// VersionsOf returns the versions of a session in the order they were made, without deleted and hidden ones.
func (st *State) VersionsOf(session string) []*Version {
	return slices.DeleteFunc(st.AllVersionsOf(session), func(v *Version) bool { return v.Deleted || v.Revoked != "" })
}

// AllVersionsOf returns the versions of a session in the order they were made, deleted and hidden ones included.
func (st *State) AllVersionsOf(session string) []*Version {
	var out []*Version
	for _, v := range st.Versions {
		if v.Session == session {
			out = append(out, v)
		}
	}
	return out
}

// OwnVersionsOf returns the versions of a session that lists name beside it: not those of devices that are not trusted, unless only such devices
// have the session.
func (st *State) OwnVersionsOf(s *Session) []*Version {
	return s.withoutGuests(st.VersionsOf(s.ID))
}

func (s *Session) withoutGuests(all []*Version) []*Version {
	if s.Guest != "" {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(v *Version) bool { return v.guest })
}

// Guest reports whether a device that is not trusted made the version.
func (v *Version) Guest() bool { return v.guest }

func (m *Memory) resolveLabel(ctx context.Context, sc Scope, label string) (Rev, error) {
	if sc.Last != nil {
		var rev Rev
		err := m.scoped(ctx, sc, func(p Project, st *State) bool {
			if s := st.session(sc.Last.ID); s != nil {
				rev = Rev{Kind: IsSession, Project: p, Session: s, Device: sc.Last.Guest, How: "of the session named last"}
			}
			return rev.Session != nil
		})
		if err != nil {
			return rev, err
		}
		return m.resolveSub(ctx, rev, label)
	}
	rev, err := m.resolveRecent(ctx, sc, "@")
	if err != nil {
		return rev, err
	}
	rev.How = "of the newest session"
	return m.resolveSub(ctx, rev, label)
}

func resolveMessages(rev Rev, s string) (Rev, error) {
	from, to, isRange := strings.Cut(s, "..")
	a, err := strconv.Atoi(from)
	b := a
	if isRange && err == nil {
		b, err = strconv.Atoi(to)
	}
	total := rev.Session.Now().Scan.Values
	if err != nil || a < 1 || b < a || b > total {
		return rev, &NotFoundError{What: "message", Name: s, Of: ShortID(rev.Session.ID), Candidates: []string{fmt.Sprintf("1..%d", total)}}
	}
	rev.Kind, rev.From, rev.To = IsMessages, a, b
	return rev, nil
}

// resolveComposition finds a composition, or with @{n} its n-th state before the newest.
func (m *Memory) resolveComposition(ctx context.Context, sc Scope, s string) (Rev, bool, error) {
	name, back := s, 0
	if base, rest, ok := strings.Cut(s, "@{"); ok {
		n, err := strconv.Atoi(strings.TrimSuffix(rest, "}"))
		if err != nil || n < 0 || !strings.HasSuffix(rest, "}") {
			return Rev{}, true, &NotFoundError{What: "composition", Name: s}
		}
		name, back = base, n
	}
	var found []Rev
	var homes []string // the projects that have it
	guest := m.WithDevice(ctx, name)
	err := m.scoped(ctx, sc, func(p Project, st *State) bool {
		for i := len(st.Compositions) - 1; i >= 0; i-- {
			if c := st.Compositions[i]; (c.Name == name || c.Name == guest) && !c.Deleted {
				found = append(found, Rev{Kind: IsComposition, Project: p, Composition: c, Hash: c.Derivation.Output, How: "name of a composition"})
			}
		}
		if n := len(found); n > 0 && found[n-1].Project.ID == p.ID {
			homes = append(homes, p.Name)
		}
		return p.ID == sc.Project.ID && len(found) > 0
	})
	if err != nil || len(found) == 0 {
		return Rev{}, false, err
	}
	if len(homes) > 1 {
		return Rev{}, true, &AmbiguousError{What: "composition", Name: name, Candidates: homes}
	}
	if back >= len(found) {
		return Rev{}, true, &NotFoundError{What: "composition", Name: s, Candidates: []string{fmt.Sprintf("%s@{%d}", name, len(found)-1)}}
	}
	rev := found[back]
	rev.Composition, err = m.completeComposition(ctx, rev.Project.ID, rev.Composition)
	return rev, true, err
}

func (m *Memory) resolveObject(ctx context.Context, sc Scope, s string) (Rev, error) {
	prefix := strings.ToLower(strings.TrimPrefix(s, "b3:"))
	var found []Rev
	err := m.eachProject(sc.Project.ID, func(id refs.Project) (bool, error) {
		err := m.repo.View(ctx, id, func(tx *refs.Tx) error {
			names, err := tx.Find(prefix)
			for _, h := range names {
				if !slices.ContainsFunc(found, func(r Rev) bool { return r.Hash == h }) {
					found = append(found, Rev{Kind: IsObject, Project: Project{ID: id}, Hash: h, How: "object"})
				}
			}
			return err
		})
		return len(prefix) == 2*objects.Size && len(found) > 0, err // a whole name is the same everywhere
	})
	switch {
	case err != nil:
		return Rev{}, err
	case len(found) == 0:
		return Rev{}, &NotFoundError{What: "object", Name: s}
	case len(found) > 1:
		var names []string
		for _, r := range found {
			names = append(names, "b3:"+r.Hash.Short())
		}
		return Rev{}, &AmbiguousError{What: "object", Name: s, Candidates: names}
	}
	return found[0], nil
}

// eachProject calls f for the project first and then all others, until it says done.
func (m *Memory) eachProject(first refs.Project, f func(refs.Project) (done bool, err error)) error {
	if first != "" {
		if done, err := f(first); done || err != nil {
			return err
		}
	}
	ids, err := m.repo.Projects()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if id == first {
			continue
		}
		if done, err := f(id); done || err != nil {
			return err
		}
	}
	return nil
}

func (m *Memory) resolveCommit(ctx context.Context, sc Scope, s string) (Rev, error) {
	back := 0
	if rest, ok := strings.CutPrefix(s, "HEAD~"); ok {
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return Rev{}, &NotFoundError{What: "commit", Name: s}
		}
		back = n
	}
	for e, err := range m.repo.Log(ctx, sc.Project.ID, nil) {
		if err != nil {
			return Rev{}, err
		}
		if e.Device != m.repo.Device().ID {
			continue
		}
		if back == 0 {
			return Rev{Kind: IsCommit, Project: sc.Project, Commit: e.Commit, How: e.Subject}, nil
		}
		back--
	}
	return Rev{}, &NotFoundError{What: "commit", Name: s}
}
