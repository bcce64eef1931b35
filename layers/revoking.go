package layers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/refs"
)

// kindRevoke is a record that says that a source is not to be believed any more.
const kindRevoke = "revoke"

// The kinds of sources that can be revoked.
const (
	SessionSource = "session" // all that was said in it
	ToolSource    = "tool"    // what a tool, or the tools of an MCP server, returned
	HostSource    = "host"    // what tools returned that was asked of a host, or names it
)

// An Origin is where something in memory came from.
type Origin struct {
	Kind string `json:"source"`
	Name string `json:"name"` // id of the session; of tools and hosts in lower case
}

// String writes a source as a user may type it.
func (s Origin) String() string {
	if s.Kind == SessionSource {
		return s.Kind + ":" + ShortID(s.Name)
	}
	return s.Kind + ":" + s.Name
}

// revokeBody says whether a source is revoked; the last one of a source wins. What it hides follows from it, so that it also
// hides what is made, captured or pulled later.
type revokeBody struct {
	Origin
	Revoked bool   `json:"revoked"`
	Reason  string `json:"reason,omitempty"`
}

type storedRevoke struct {
	revokeBody
	Stamp stamp
	Time  time.Time
}

func (r *storedRevoke) code(c *codec) {
	word(c, &r.Kind)
	word(c, &r.Name)
	c.bool(&r.Revoked)
	word(c, &r.Reason)
	r.Stamp.code(c)
	c.time(&r.Time)
}

// A Revocation is a source that is revoked, and who said so.
type Revocation struct {
	Origin
	Reason  string    `json:"reason,omitempty"`
	Device  string    `json:"device"`
	Time    time.Time `json:"time"`
	InForce bool      `json:"in_force"` // else the device that said so is not trusted
}

// why says for people why something that came from the source is hidden.
func (r Revocation) why() string {
	if r.Reason == "" {
		return r.Origin.String() + " is revoked"
	}
	return r.Origin.String() + " is revoked: " + r.Reason
}

// revocations folds what records say of sources: of each the last word counts, of devices that are not trusted only if no
// other has spoken of it, and then it is not in force. The order of the records does not matter.
func revocations(all []storedRevoke, trusted func(device string) bool) []Revocation {
	last := map[Origin]storedRevoke{}
	for _, r := range all {
		was, ok := last[r.Origin]
		if better := trusted(r.Stamp.Device); !ok || better && !trusted(was.Stamp.Device) ||
			better == trusted(was.Stamp.Device) && r.Stamp.compare(was.Stamp) > 0 {
			last[r.Origin] = r
		}
	}
	var out []Revocation
	for _, r := range last {
		if r.Revoked {
			out = append(out, Revocation{r.Origin, r.Reason, r.Stamp.Device, r.Time, trusted(r.Stamp.Device)})
		}
	}
	slices.SortFunc(out, func(a, b Revocation) int { return a.compare(b.Origin) })
	return out
}

func (s Origin) compare(o Origin) int {
	return cmp.Or(cmp.Compare(s.Kind, o.Kind), cmp.Compare(s.Name, o.Name))
}

// inForce returns the revocations that hide something.
func inForce(all []Revocation) []Revocation {
	return slices.DeleteFunc(slices.Clone(all), func(r Revocation) bool { return !r.InForce })
}

// Revocations returns the sources of a project that are revoked, sorted.
func (m *Memory) Revocations(ctx context.Context, p refs.Project) ([]Revocation, error) {
	st, err := m.Outline(ctx, p)
	if err != nil {
		return nil, err
	}
	return m.revocationsOf(ctx, st)
}

func (m *Memory) revocationsOf(ctx context.Context, st *State) ([]Revocation, error) {
	if len(st.Revokes) == 0 {
		return nil, nil
	}
	trust, err := m.Trust(ctx)
	if err != nil {
		return nil, err
	}
	return revocations(st.Revokes, trust.Of), nil
}

// NormalOrigin returns the source as records name it: a host without scheme, path and a final dot.
func NormalOrigin(kind, name string) (Origin, error) {
	name = strings.TrimSpace(name)
	switch kind {
	case SessionSource:
	case ToolSource:
		name = strings.ToLower(name)
	case HostSource:
		if u, err := url.Parse(name); err == nil && u.Host != "" {
			name = u.Host
		}
		name = strings.TrimSuffix(strings.ToLower(name), ".")
		if h, port, err := net.SplitHostPort(name); err == nil && (port == "80" || port == "443") {
			name = h
		}
	default:
		return Origin{}, fmt.Errorf("%q is no kind of source: want session, tool or host", kind)
	}
	if name == "" || strings.ContainsAny(name, " \t\r\n/") {
		return Origin{}, fmt.Errorf("%q is no name of a %s", name, kind)
	}
	return Origin{kind, name}, nil
}

// A Hidden is something that is hidden because of what it came from.
type Hidden struct {
	Kind    Kind   `json:"kind"`
	Name    string `json:"name"`
	What    string `json:"what,omitempty"` // its title or its text
	Why     string `json:"why"`
	Project string `json:"project,omitempty"` // whose it is, if it is another one's, made of text of the one that is looked at
	home    refs.Project
}

// An Effect is what revoking a source, or taking that back, changes in what is shown of a project.
type Effect struct {
	Changed []Hidden // what is hidden by it, or shown again
	Places  int      // messages that came from the source
	Copies  []string // sessions that repeat a conversation that is hidden, or were given what was made of it
	Already bool     // it was so before
}

// Revoke says that a source is not to be believed any more, or with off that it is. Nothing is deleted: what came from it is out
// of lists, contexts and views, here and wherever the project is pulled, until that is taken back. A dry run only says what
// would change.
func (m *Memory) Revoke(ctx context.Context, p Project, src Origin, reason string, off, dryRun bool) (Effect, error) {
	var out Effect
	st, err := m.bare(ctx, p.ID)
	if err != nil {
		return out, err
	}
	now, err := m.revocationsOf(ctx, st)
	if err != nil {
		return out, err
	}
	now = inForce(now)
	then := slices.DeleteFunc(slices.Clone(now), func(r Revocation) bool { return r.Origin == src })
	out.Already = off == (len(then) == len(now))
	if !off {
		then = append(then, Revocation{Origin: src, Reason: reason, Device: m.repo.Device().ID, InForce: true})
		slices.SortFunc(then, func(a, b Revocation) int { return a.compare(b.Origin) })
	}
	if out.Changed, err = m.changed(ctx, p, st, now, then); err != nil {
		return out, err
	}
	if out.Places, err = m.countPlaces(ctx, p.ID, st, src); err != nil {
		return out, err
	}
	if out.Copies, err = m.copies(ctx, st, out.Changed, src); err != nil {
		return out, err
	}
	if dryRun || out.Already {
		return out, nil
	}
	message := "revoke " + src.String()
	if off {
		message = "revoke " + src.String() + " no more"
	}
	return out, m.repo.Update(ctx, p.ID, message, func(tx *refs.Tx) error {
		tx.Trailer("Op", "revoke")
		_, err := tx.Add(kindRevoke, revokeBody{src, !off, reason})
		return err
	})
}

// changed lists what is hidden by one list of revocations and not by another.
func (m *Memory) changed(ctx context.Context, p Project, st *State, now, then []Revocation) ([]Hidden, error) {
	before, err := m.hiddenBy(ctx, p, st, now)
	if err != nil {
		return nil, err
	}
	after, err := m.hiddenBy(ctx, p, st, then)
	if err != nil {
		return nil, err
	}
	var out []Hidden
	for _, pair := range [][2][]Hidden{{before, after}, {after, before}} {
		for _, h := range pair[1] {
			if !slices.ContainsFunc(pair[0], func(o Hidden) bool { return o.Kind == h.Kind && o.Name == h.Name && o.home == h.home }) {
				out = append(out, h)
			}
		}
	}
	return out, nil
}

// hiddenBy lists all that revocations hide of a project.
func (m *Memory) hiddenBy(ctx context.Context, p Project, st *State, by []Revocation) ([]Hidden, error) {
	from, err := m.foreigns(ctx, st)
	if err != nil {
		return nil, err
	}
	marked, err := m.marked(ctx, st, by, from)
	if err != nil {
		return nil, err
	}
	var out []Hidden
	for _, s := range marked.Sessions {
		if s.Revoked != "" && !s.Deleted {
			out = append(out, Hidden{Kind: IsSession, Name: ShortID(s.ID), What: s.Now().Scan.Title, Why: s.Revoked})
		}
	}
	for _, v := range marked.Versions {
		if v.Revoked != "" && !v.Deleted {
			out = append(out, Hidden{Kind: IsVersion, Name: ShortID(v.Session) + ":" + v.Name(), What: v.FileName(), Why: v.Revoked})
		}
	}
	names := stateNames(marked)
	for _, c := range marked.Compositions {
		if c.Revoked != "" && !c.Deleted {
			out = append(out, Hidden{Kind: IsComposition, Name: names[c.ID], Why: c.Revoked})
		}
	}
	upper, err := m.hiddenUpper(ctx, p.ID, marked, by)
	if err != nil {
		return nil, err
	}
	elsewhere, err := m.hiddenElsewhere(ctx, st, by)
	return slices.Concat(out, upper, elsewhere), err
}

// hiddenElsewhere lists the compositions of other projects with parts of the one of st that are hidden.
func (m *Memory) hiddenElsewhere(ctx context.Context, st *State, by []Revocation) (out []Hidden, err error) {
	ids, err := m.repo.Projects()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if id == st.Project {
			continue
		}
		there, err := m.bare(ctx, id)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(there.partsFrom(), st.Project) {
			continue
		}
		all, err := m.revocationsOf(ctx, there)
		if err != nil {
			return nil, err
		}
		from, err := m.foreigns(ctx, there)
		if err != nil {
			return nil, err
		}
		from = slices.DeleteFunc(from, func(f foreign) bool { return f.st.Project == st.Project })
		marked, err := m.marked(ctx, there, inForce(all), append(from, foreign{st, by}))
		if err != nil {
			return nil, err
		}
		names := stateNames(marked)
		for _, c := range marked.Compositions {
			if c.Revoked != "" && !c.Deleted {
				out = append(out, Hidden{Kind: IsComposition, Name: names[c.ID], Why: c.Revoked, Project: marked.Name, home: id})
			}
		}
	}
	return out, nil
}

// hiddenUpper lists the facts, concepts and rules that revocations hide.
func (m *Memory) hiddenUpper(ctx context.Context, p refs.Project, st *State, by []Revocation) ([]Hidden, error) {
	records, err := m.upper(ctx, p)
	if err != nil {
		return nil, err
	}
	trust, err := m.Trust(ctx)
	if err != nil {
		return nil, err
	}
	k, err := m.fold(ctx, records, trust, st, by)
	if err != nil {
		return nil, err
	}
	var out []Hidden
	for f := range k.Facts.All() {
		if f.Revoked != "" && !f.Removed {
			out = append(out, Hidden{Kind: IsFact, Name: f.ID, What: f.Text, Why: f.Revoked})
		}
	}
	for _, c := range k.Concepts.Concepts {
		if c.Revoked != "" && !c.Removed && c.MergedInto == "" {
			out = append(out, Hidden{Kind: IsConcept, Name: k.Concepts.Shown(c, m.repo.Device().ID), What: c.Name, Why: c.Revoked})
		}
	}
	for _, r := range k.Rules.Rules {
		if r.Revoked != "" {
			out = append(out, Hidden{Kind: IsRule, Name: r.ID, What: r.Text, Why: r.Revoked})
		}
	}
	return out, nil
}

// copies names the sessions of all projects that used what is hidden.
func (m *Memory) copies(ctx context.Context, st *State, hidden []Hidden, src Origin) ([]string, error) {
	in := map[refs.Project][]Hidden{st.Project: nil}
	for _, h := range hidden {
		home := cmp.Or(h.home, st.Project)
		in[home] = append(in[home], h)
	}
	var out []string
	for id, list := range in {
		of := st
		if id != st.Project {
			var err error
			if of, err = m.bare(ctx, id); err != nil {
				return nil, err
			}
		}
		out = append(out, of.copiesOf(list, src)...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// copiesOf names the sessions that used what is hidden: they hold its text, as an echo. A revoked session's own subagents
// are hidden with it.
func (st *State) copiesOf(hidden []Hidden, src Origin) []string {
	targets := map[string]bool{}
	for _, h := range hidden {
		switch h.Kind {
		case IsComposition:
			name, _, _ := strings.Cut(h.Name, "@{")
			targets["composition/"+name] = true
		case IsVersion:
			for _, v := range st.Versions {
				if ShortID(v.Session)+":"+v.Name() == h.Name {
					targets["version/"+v.ID.String()] = true
				}
			}
		}
	}
	if src.Kind == SessionSource {
		targets["session/"+src.Name] = true
	}
	var out []string
	for _, u := range st.Uses {
		if slices.ContainsFunc(u.Targets, func(t string) bool { return targets[t] }) && u.By != src.Name && !slices.Contains(out, u.By) {
			out = append(out, u.By)
		}
	}
	slices.Sort(out)
	return out
}

// revokeCell is the cell of whether a source is revoked.
func revokeCell(b revokeBody) cell {
	says := func(b revokeBody) string { return fmt.Sprint(b.Revoked) }
	was := revokeBody{Origin: b.Origin}
	return cell{
		slot: "revoke/" + b.Kind + "/" + b.Name, what: b.Origin.String(), says: says(b),
		again: statement{kindRevoke, b}, none: cellNone{says(was), statement{kindRevoke, was}},
	}
}

// FindOrigin finds the source that a name stands for: a session, a tool or MCP server, a host or a URL; behind session:, tool: or
// host: it is that, known or not. Project is the one that it is looked for in; of a session it is the session's. The
// error is a [*NotFoundError] or an [*AmbiguousError].
func (m *Memory) FindOrigin(ctx context.Context, sc Scope, name string) (Origin, Project, error) {
	kind, rest, ok := strings.Cut(name, ":")
	switch {
	case ok && (kind == ToolSource || kind == HostSource):
		src, err := NormalOrigin(kind, rest)
		return src, sc.Project, err
	case ok && kind == SessionSource:
		return m.sessionOrigin(ctx, sc, rest)
	}
	tools, err := m.Tools(ctx, sc.Project.ID)
	if err != nil {
		return Origin{}, sc.Project, err
	}
	var found []Origin
	p := sc.Project
	session, home, err := m.sessionOrigin(ctx, sc, name)
	var missing *NotFoundError
	if err == nil {
		found, p = append(found, session), home
	} else if !errors.As(err, &missing) {
		return Origin{}, p, err
	}
	if tool, err := NormalOrigin(ToolSource, name); err == nil && slices.ContainsFunc(tools, func(t string) bool { return toolMatches(t, tool.Name) }) {
		found = append(found, tool)
	}
	if host, err := NormalOrigin(HostSource, name); err == nil && looksLikeHost(host.Name) {
		found = append(found, host)
	}
	switch len(found) {
	case 0:
		return Origin{}, p, &NotFoundError{What: "source", Name: name, Candidates: tools}
	case 1:
		return found[0], p, nil
	}
	var names []string
	for _, f := range found {
		names = append(names, f.String())
	}
	return Origin{}, p, &AmbiguousError{What: "source", Name: name, Candidates: names}
}

func (m *Memory) sessionOrigin(ctx context.Context, sc Scope, name string) (Origin, Project, error) {
	rev, err := m.resolveSession(ctx, sc, name)
	if err != nil {
		return Origin{}, sc.Project, err
	}
	return Origin{SessionSource, rev.Session.ID}, rev.Project, nil
}

// looksLikeHost reports whether a name has the form of a host with a domain, an address, or a port.
func looksLikeHost(s string) bool {
	if s == "localhost" || net.ParseIP(strings.Trim(s, "[]")) != nil {
		return true
	}
	host, port, err := net.SplitHostPort(s)
	if err == nil {
		return host != "" && strings.Trim(port, "0123456789") == ""
	}
	return strings.Contains(strings.Trim(s, "."), ".") && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789.-_") == ""
}
