package state

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/refs"
)

// PartsFrom returns the other projects that parts of compositions come from, in the order of compositions.
func (st *State) PartsFrom() (out []refs.Project) {
	seen := map[refs.Project]bool{st.Project: true}
	for _, c := range st.Compositions {
		for _, part := range c.Parts {
			if !seen[part.Project] {
				seen[part.Project] = true
				out = append(out, part.Project)
			}
		}
	}
	return out
}

// Clone copies the things of a state that can be marked, so that st stays as it is.
func (st *State) Clone() *State {
	out := *st
	out.ByID, out.Sessions, out.Versions, out.Compositions = nil, nil, nil, nil
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
	out.Index()
	return &out
}

// Revoked says why what rev names is hidden, "" if it is not.
func (st *State) Revoked(rev Rev) string {
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
			if s := st.Session(rev.Session.ID); s != nil {
				return s.Revoked
			}
		}
	}
	return ""
}

// A Hidden is something that is hidden because of what it came from.
type Hidden struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	What string `json:"what,omitempty"` // its title or its text
	Why  string `json:"why"`
	// whose it is, if it is another one's, made of text of the one that is looked at
	Project string       `json:"project,omitempty"`
	Home    refs.Project `json:"-"`
}

// CopiesOf names the sessions that used what is hidden: they hold its text, as an echo. A revoked session's own
// subagents are hidden with it.
func (st *State) CopiesOf(hidden []Hidden, src records.Origin) []string {
	targets := map[string]bool{}
	for _, h := range hidden {
		switch h.Kind {
		case IsComposition:
			name, _, _ := strings.Cut(h.Name, "@{")
			targets["composition/"+name] = true
		case IsVersion:
			for _, v := range st.Versions {
				if records.ShortID(v.Session)+":"+v.Name() == h.Name {
					targets["version/"+v.ID.String()] = true
				}
			}
		}
	}
	if src.Kind == records.SessionSource {
		targets["session/"+src.Name] = true
	}
	var out []string
	for _, u := range st.Uses {
		if slices.ContainsFunc(u.Targets, func(t string) bool { return targets[t] }) && u.By != src.Name &&
			!slices.Contains(out, u.By) {
			out = append(out, u.By)
		}
	}
	slices.Sort(out)
	return out
}

// revokeCell is the cell of whether a source is revoked.
func revokeCell(b records.RevokeBody) Cell {
	value := func(b records.RevokeBody) string { return fmt.Sprint(b.Revoked) }
	was := records.RevokeBody{Origin: b.Origin}
	return Cell{
		Slot: "revoke/" + b.Kind + "/" + b.Name, What: b.Origin.String(), Value: value(b),
		Restore: Statement{records.KindRevoke, b}, Empty: emptyCell{value(was), Statement{records.KindRevoke, was}},
	}
}
