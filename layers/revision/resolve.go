package revision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// resolveEarlier resolves original@{n}. {0} is the current original.
func resolveEarlier(rev state.Rev, sub string) (state.Rev, error) {
	_, digits, _ := strings.Cut(sub, "@{")
	n, err := strconv.Atoi(strings.TrimSuffix(digits, "}"))
	earlier := rev.Session.Earlier()
	if err != nil || n < 0 || n > len(earlier) || !strings.HasSuffix(sub, "}") {
		var names []string
		for i := range earlier {
			names = append(names, state.EarlierName(i+1))
		}
		return rev, &state.NotFoundError{What: "known original", Name: sub, Of: records.ShortID(rev.Session.ID),
			Candidates: names}
	}
	if n == 0 {
		rev.Kind = state.IsOriginal
		return rev, nil
	}
	rev.Kind, rev.Point = state.IsEarlier, earlier[n-1]
	rev.Hash, rev.How = rev.Point.Original, "before the file was rewritten"
	return rev, nil
}

// resolveTag finds the version with a tag in the scope's project. Tags of sessions are resolved as names of
// sessions.
func resolveTag(ctx context.Context, db *state.DB, sc state.Scope, name string) (rev state.Rev, ok bool, err error) {
	sc.Strict = true
	err = Scoped(ctx, db, sc, func(p state.Project, st *state.State) bool {
		for _, t := range st.Tags() {
			if t.Name == name && t.Version != nil {
				rev, ok = t.Rev(p), true
			}
		}
		return ok
	})
	if err != nil || !ok {
		return rev, false, err
	}
	return At(rev, rev.Version), true, nil
}

// ErrLayer reports a layer that a session does not have.
var ErrLayer = errors.New("no such layer")

// Resolve resolves a revision: abc1, @~2, abc1:v002, abc1#12..18, name@{1}, b3:9f2c, HEAD~1 or, if no session has the
// name, the start of a commit. The error is a [*state.NotFoundError], a [*state.AmbiguousError] or one of the store.
func Resolve(ctx context.Context, db *state.DB, sc state.Scope, s string) (state.Rev, error) {
	switch {
	case strings.HasPrefix(s, "b3:"):
		return resolveObject(ctx, db, sc, s)
	case s == "HEAD" || strings.HasPrefix(s, "HEAD~"):
		return resolveCommit(ctx, db, sc, s)
	}
	if what := upperNamed(s); what != "" {
		return resolveUpper(ctx, db, sc, what, s)
	}
	if strings.Contains(s, " ") { // a title, which may have a colon
		if rev, err := ResolveSession(ctx, db, sc, s); err == nil {
			return rev, nil
		}
	}
	name, sub, hasSub := strings.Cut(s, ":")
	messages, hasMessages := "", false
	if !hasSub {
		name, messages, hasMessages = strings.Cut(s, "#")
	}
	if label := normalLabel(s); label != "" {
		return resolveLabel(ctx, db, sc, label)
	}
	if !hasSub && !hasMessages {
		if rev, ok, err := resolveComposition(ctx, db, sc, s); ok || err != nil {
			return rev, err
		}
	}
	if rev, ok, err := resolveTag(ctx, db, sc, s); ok || err != nil {
		return rev, err
	}
	rev, err := ResolveSession(ctx, db, sc, name)
	var missing *state.NotFoundError
	if err != nil && errors.As(err, &missing) && isCommitPrefix(s) {
		if commit, found := resolveCommitPrefix(ctx, db, sc, s); found == nil {
			return commit, nil
		}
	}
	if err != nil {
		return rev, err
	}
	switch {
	case hasSub:
		return resolveSub(ctx, db, rev, sub)
	case hasMessages:
		return resolveMessages(rev, messages)
	}
	return rev, nil
}

// normalLabel returns s if it has the form of a label of a version (v001, v12, v002~desk), else "".
func normalLabel(s string) string {
	digits, _, _ := strings.Cut(strings.TrimPrefix(s, "v"), "~")
	if n, err := strconv.Atoi(digits); err == nil && n > 0 && strings.HasPrefix(s, "v") && digits[0] != '+' {
		return "v" + fmt.Sprintf("%03d", n) + s[1+len(digits):]
	}
	return ""
}

// IsLabel reports whether s has the form of a label of a version.
func IsLabel(s string) bool { return normalLabel(s) != "" }

// Scoped calls f with the state of the scope's project and then of all others, until f returns true.
func Scoped(ctx context.Context, db *state.DB, sc state.Scope, f func(p state.Project, st *state.State) (done bool)) error {
	st, err := trust.Outline(ctx, db, sc.Project.ID)
	if err != nil {
		return err
	}
	if f(sc.Project, st) || sc.Strict {
		return nil
	}
	ids, err := db.Refs.Projects()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if id == sc.Project.ID {
			continue
		}
		st, err := trust.Outline(ctx, db, id)
		if err != nil {
			return err
		}
		if f(st.AsProject(), st) {
			return nil
		}
	}
	return nil
}

// ResolveSession finds a session by "@", "@~n", ID, unique prefix or title. If it went on differently on several devices, the
// name is that of its branch on this device; SESSION~DEVICE names the others.
func ResolveSession(ctx context.Context, db *state.DB, sc state.Scope, name string) (state.Rev, error) {
	if strings.HasPrefix(name, "@") {
		return resolveRecent(ctx, db, sc, name)
	}
	name = trust.WithDevice(ctx, db, name)
	var found []state.Rev
	var near []string // sessions of the scope's project, or of all projects
	inScope, known := false, false
	err := Scoped(ctx, db, sc, func(p state.Project, st *state.State) bool {
		var names []string
		for _, s := range st.Sessions {
			if how := s.Matches(name); how != "" {
				rev := state.Rev{Kind: state.IsSession, Project: p, Session: s, Hash: s.Now().Original, How: how}
				if s.ID == name {
					found = []state.Rev{rev}
					return true
				}
				found = append(found, rev)
			} else if s.Shown() && s.Parent() == "" {
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
		return inScope && len(name) < state.FullIDLength
	})
	if err != nil {
		return state.Rev{}, err
	}
	found = preferSessions(found)
	if !sc.Removed { // a hidden branch does not stand for one that is shown
		found = preferShown(found)
	}
	found = preferShown(ofThisDevice(db, found))
	switch len(found) {
	case 0:
		if waits, err := waiting(ctx, db, sc, name); waits != nil || err != nil {
			return state.Rev{}, cmp.Or(err, waits)
		}
		return state.Rev{}, &state.NotFoundError{What: "session", Name: name, Candidates: near}
	case 1:
		return found[0], nil
	}
	return state.Rev{}, &state.AmbiguousError{What: "session", Name: name, Candidates: describeAll(found)}
}

// waiting returns an error that names the device for which a hidden session waits, nil if no such session has the name.
func waiting(ctx context.Context, db *state.DB, sc state.Scope, name string) (waits, err error) {
	serr := Scoped(ctx, db, sc, func(p state.Project, st *state.State) bool {
		if len(st.Purges) == 0 {
			return false
		}
		var all []*state.Session
		if all, err = db.Waiting(ctx, p.ID); err != nil {
			return true
		}
		for _, s := range all {
			if s.Matches(name) == "" {
				continue
			}
			device := ""
			device, err = trust.DeviceName(ctx, db, s.Now().Stamp.Device)
			waits = &state.NotFoundError{What: "session", Name: s.Name(), Waits: device}
			return true
		}
		return false
	})
	return waits, cmp.Or(err, serr)
}

// ofThisDevice reduces the branches of one session to that of this device, if it has one.
func ofThisDevice(db *state.DB, found []state.Rev) []state.Rev {
	var own []state.Rev
	for _, r := range found {
		if r.Session.File == "" || r.Session.File != found[0].Session.File {
			return found
		}
		if r.Session.On(db.Refs.Device().ID) {
			own = append(own, r)
		}
	}
	if len(own) == 1 {
		return own
	}
	return found
}

// describeAll returns the IDs and titles of sessions. It shortens IDs unless they start alike.
func describeAll(found []state.Rev) []string {
	starts := map[string]int{}
	for _, r := range found {
		starts[records.ShortID(r.Session.ID)]++
	}
	var names []string
	for _, r := range found {
		id := r.Session.Name()
		if starts[records.ShortID(r.Session.ID)] > 1 {
			id = r.Session.ID
		}
		if t := r.Session.Title(); t != "" {
			id += fmt.Sprintf(" %q", t)
		}
		names = append(names, id)
	}
	return names
}

// preferShown removes deleted and hidden sessions if there are others.
func preferShown(found []state.Rev) []state.Rev {
	shown := slices.DeleteFunc(slices.Clone(found), func(r state.Rev) bool { return !r.Session.Shown() })
	if len(shown) > 0 {
		return shown
	}
	return found
}

// preferSessions removes subagents whose ID matches only after "agent-", if there are others. So the short ID in a
// list always names its session.
func preferSessions(found []state.Rev) []state.Rev {
	direct := slices.DeleteFunc(slices.Clone(found), func(r state.Rev) bool { return r.How == state.SubagentPrefix })
	if len(direct) > 0 {
		return direct
	}
	return found
}

func resolveRecent(ctx context.Context, db *state.DB, sc state.Scope, name string) (state.Rev, error) {
	back := 0
	if name != "@" {
		n, err := strconv.Atoi(strings.TrimPrefix(name, "@~"))
		if err != nil || n < 0 || !strings.HasPrefix(name, "@~") {
			return state.Rev{}, &state.NotFoundError{What: "session", Name: name}
		}
		back = n
	}
	st, err := trust.Outline(ctx, db, sc.Project.ID)
	if err != nil {
		return state.Rev{}, err
	}
	recent := st.Recent()
	if back >= len(recent) {
		missing := &state.NotFoundError{What: "session", Name: name}
		if n := len(recent); n > 0 {
			missing.Candidates = []string{fmt.Sprintf("@~%d", n-1)}
		}
		return state.Rev{}, missing
	}
	s := recent[back]
	return state.Rev{Kind: state.IsSession, Project: sc.Project, Session: s, Hash: s.Now().Original,
		How: fmt.Sprintf("session %d from the newest", back+1)}, nil
}

// resolveSub resolves the part after the colon.
func resolveSub(ctx context.Context, db *state.DB, rev state.Rev, sub string) (state.Rev, error) {
	if len(sub) > len("original@{") && strings.EqualFold(sub[:len("original@{")], "original@{") {
		return resolveEarlier(rev, sub)
	}
	switch strings.ToLower(sub) {
	case "original":
		rev.Kind = state.IsOriginal
		return rev, nil
	case "l1":
		rev.Kind, rev.Hash = state.IsL1, objects.Hash{} // its hash is unknown until it is computed
		return rev, nil
	case "l2":
		rev.Kind, rev.Hash = state.IsL2, objects.Hash{} // a view has no hash
		return rev, nil
	case "l3", "l4":
		return rev, fmt.Errorf("%s of %s: %w", strings.ToUpper(sub), records.ShortID(rev.Session.ID), ErrLayer)
	}
	return resolveVersion(ctx, db, rev, sub)
}

// resolveVersion resolves a version of a session.
func resolveVersion(ctx context.Context, db *state.DB, rev state.Rev, sub string) (state.Rev, error) {
	st, err := trust.Outline(ctx, db, rev.Project.ID)
	if err != nil {
		return rev, err
	}
	versions := st.VersionsOf(rev.Session.ID)
	if strings.EqualFold(sub, "latest") && len(versions) > 0 {
		return At(rev, versions[len(versions)-1]), nil
	}
	label, device, _ := strings.Cut(normalLabel(trust.WithDevice(ctx, db, sub)), "~")
	found := labelled(db, st.AllVersionsOf(rev.Session.ID), label, device) // hidden ones included
	switch len(found) {
	case 0:
		return rev, noVersion(rev, sub, versions)
	case 1:
		return At(rev, found[0]), nil
	}
	var names []string
	for _, v := range found {
		names = append(names, v.Label+"~"+v.Device[:8])
	}
	return rev, &state.AmbiguousError{What: "version", Name: sub, Candidates: names}
}

// selected returns the versions for which ok is true.
func selected(versions []*records.Version, ok func(*records.Version) bool) []*records.Version {
	return slices.DeleteFunc(slices.Clone(versions), func(v *records.Version) bool { return !ok(v) })
}

// labelled returns the versions with a label, of any device if device is "". Of several it prefers those that are shown,
// and that of this device.
func labelled(db *state.DB, all []*records.Version, label, device string) []*records.Version {
	found := selected(all, func(v *records.Version) bool {
		return v.Label == label && strings.HasPrefix(v.Device, device)
	})
	if shown := selected(found, func(v *records.Version) bool { return !v.Deleted }); len(shown) > 0 {
		found = shown
	}
	own := slices.IndexFunc(found, func(v *records.Version) bool { return v.Device == db.Refs.Device().ID })
	if own >= 0 && device == "" {
		found = found[own : own+1]
	}
	return found
}

// noVersion returns the error for a name without a version.
func noVersion(rev state.Rev, name string, versions []*records.Version) error {
	missing := &state.NotFoundError{What: "version", Name: name, Of: records.ShortID(rev.Session.ID)}
	for _, v := range versions {
		missing.Candidates = append(missing.Candidates, v.Name())
	}
	return missing
}

// At returns the revision of a version.
func At(r state.Rev, v *records.Version) state.Rev {
	r.Kind, r.Hash, r.Version = state.IsVersion, v.Derivation.Output, v
	return r
}

func resolveLabel(ctx context.Context, db *state.DB, sc state.Scope, label string) (state.Rev, error) {
	if sc.Last != nil {
		var rev state.Rev
		err := Scoped(ctx, db, sc, func(p state.Project, st *state.State) bool {
			if s := st.Session(sc.Last.ID); s != nil {
				rev = state.Rev{Kind: state.IsSession, Project: p, Session: s, How: "of the session named last"}
			}
			return rev.Session != nil
		})
		if err != nil {
			return rev, err
		}
		return resolveSub(ctx, db, rev, label)
	}
	rev, err := resolveRecent(ctx, db, sc, "@")
	if err != nil {
		return rev, err
	}
	rev.How = "of the newest session"
	return resolveSub(ctx, db, rev, label)
}

func resolveMessages(rev state.Rev, s string) (state.Rev, error) {
	from, to, isRange := strings.Cut(s, "..")
	a, err := strconv.Atoi(from)
	b := a
	if isRange && err == nil {
		b, err = strconv.Atoi(to)
	}
	total := rev.Session.Now().Scan.Values
	if err != nil || a < 1 || b < a || b > total {
		return rev, &state.NotFoundError{What: "message", Name: s, Of: records.ShortID(rev.Session.ID),
			Candidates: []string{fmt.Sprintf("1..%d", total)}}
	}
	rev.Kind, rev.From, rev.To = state.IsMessages, a, b
	return rev, nil
}

// resolveComposition finds a composition, or with @{n} its n-th state before the newest.
func resolveComposition(ctx context.Context, db *state.DB, sc state.Scope, s string) (state.Rev, bool, error) {
	name, back := s, 0
	if base, rest, ok := strings.Cut(s, "@{"); ok {
		n, err := strconv.Atoi(strings.TrimSuffix(rest, "}"))
		if err != nil || n < 0 || !strings.HasSuffix(rest, "}") {
			return state.Rev{}, true, &state.NotFoundError{What: "composition", Name: s}
		}
		name, back = base, n
	}
	var found []state.Rev
	var homes []string // projects with such a composition
	removed := false   // those are searched
	search := func(p state.Project, st *state.State) bool {
		for i := len(st.Compositions) - 1; i >= 0; i-- {
			if c := st.Compositions[i]; c.Name == name && c.Deleted == removed {
				found = append(found, state.Rev{Kind: state.IsComposition, Project: p, Composition: c, Hash: c.Derivation.Output,
					How: "name of a composition"})
			}
		}
		if n := len(found); n > 0 && found[n-1].Project.ID == p.ID {
			homes = append(homes, p.Name)
		}
		return p.ID == sc.Project.ID && len(found) > 0
	}
	err := Scoped(ctx, db, sc, search)
	if removed = sc.Removed && len(found) == 0; err == nil && removed {
		err = Scoped(ctx, db, sc, search)
	}
	if err != nil || len(found) == 0 {
		return state.Rev{}, false, err
	}
	if len(homes) > 1 {
		return state.Rev{}, true, &state.AmbiguousError{What: "composition", Name: name, Candidates: homes}
	}
	if back >= len(found) {
		return state.Rev{}, true, &state.NotFoundError{What: "composition", Name: s,
			Candidates: []string{fmt.Sprintf("%s@{%d}", name, len(found)-1)}}
	}
	return found[back], true, nil
}

func resolveObject(ctx context.Context, db *state.DB, sc state.Scope, s string) (state.Rev, error) {
	prefix := strings.ToLower(strings.TrimPrefix(s, "b3:"))
	var found []state.Rev
	err := eachProject(db, sc.Project.ID, func(id refs.Project) (bool, error) {
		err := db.Refs.View(ctx, id, func(tx *refs.Tx) error {
			names, err := tx.Find(prefix)
			for _, h := range names {
				if !slices.ContainsFunc(found, func(r state.Rev) bool { return r.Hash == h }) {
					found = append(found, state.Rev{Kind: state.IsObject, Project: state.Project{ID: id}, Hash: h, How: "object"})
				}
			}
			return err
		})
		return len(prefix) == 2*objects.Size && len(found) > 0, err // a full hash is unique
	})
	switch {
	case err != nil:
		return state.Rev{}, err
	case len(found) == 0:
		return state.Rev{}, &state.NotFoundError{What: "object", Name: s}
	case len(found) > 1:
		var names []string
		for _, r := range found {
			names = append(names, "b3:"+r.Hash.Short())
		}
		return state.Rev{}, &state.AmbiguousError{What: "object", Name: s, Candidates: names}
	}
	return found[0], nil
}

// eachProject calls f for the project first and then for all others, until f returns true.
func eachProject(db *state.DB, first refs.Project, f func(refs.Project) (done bool, err error)) error {
	if first != "" {
		if done, err := f(first); done || err != nil {
			return err
		}
	}
	ids, err := db.Refs.Projects()
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

func resolveCommit(ctx context.Context, db *state.DB, sc state.Scope, s string) (state.Rev, error) {
	back := 0
	if rest, ok := strings.CutPrefix(s, "HEAD~"); ok {
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return state.Rev{}, &state.NotFoundError{What: "commit", Name: s}
		}
		back = n
	}
	for e, err := range db.Refs.Log(ctx, sc.Project.ID, nil) {
		if err != nil {
			return state.Rev{}, err
		}
		if e.Device != db.Refs.Device().ID {
			continue
		}
		if back == 0 {
			return state.Rev{Kind: state.IsCommit, Project: sc.Project, Commit: e.Commit, How: e.Subject}, nil
		}
		back--
	}
	return state.Rev{}, &state.NotFoundError{What: "commit", Name: s}
}

// isCommitPrefix reports whether s can be the start of a commit, at least as long as mem log prints.
func isCommitPrefix(s string) bool {
	return len(s) >= 7 && len(s) <= 40 && strings.Trim(s, "0123456789abcdef") == ""
}

// resolveCommitPrefix finds an operation by the start of its commit.
func resolveCommitPrefix(ctx context.Context, db *state.DB, sc state.Scope, prefix string) (state.Rev, error) {
	var found []state.Rev
	err := Scoped(ctx, db, sc, func(p state.Project, _ *state.State) (done bool) {
		for e, err := range db.Refs.Log(ctx, p.ID, nil) {
			if err != nil {
				return false // reading the operations of this project reports it
			}
			if strings.HasPrefix(e.Commit, prefix) {
				found = append(found, state.Rev{Kind: state.IsCommit, Project: p, Commit: e.Commit, How: e.Subject})
			}
		}
		return len(found) > 0
	})
	switch {
	case err != nil:
		return state.Rev{}, err
	case len(found) != 1:
		return state.Rev{}, &state.NotFoundError{What: "commit", Name: prefix}
	}
	return found[0], nil
}
