package state

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/records"
)

// applyNames sets the titles and tags of sessions.
func (st *State) applyNames() {
	for _, n := range st.Names {
		id, _ := strings.CutPrefix(n.Target, "session/")
		for _, s := range st.SessionsNamed(id) {
			if n.Field == records.FieldTitle {
				s.Renamed = n.Name
				continue
			}
			s.Tags = slices.DeleteFunc(s.Tags, func(t string) bool { return t == n.Name })
			if !n.Removed {
				s.Tags = append(s.Tags, n.Name)
				slices.Sort(s.Tags)
			}
		}
	}
}

// A Tag is a name that the user gave to a version, or to a session if Version is nil.
type Tag struct {
	Name    string
	Session *Session
	Version *records.Version
}

// Tags returns the tags of sessions and versions, sorted by name.
func (st *State) Tags() []Tag {
	var out []Tag
	versions := map[string]*records.Version{}
	for _, v := range st.Versions {
		versions[v.ID.String()] = v
	}
	for _, n := range st.Names {
		if n.Field != records.FieldTag || n.Removed {
			continue
		}
		kind, name, _ := strings.Cut(n.Target, "/")
		v := versions[name]
		if kind == "version" && v != nil && st.Session(v.Session) != nil {
			out = append(out, Tag{n.Name, st.Session(v.Session), v})
		}
	}
	for _, s := range st.Sessions {
		for _, name := range s.Tags {
			out = append(out, Tag{Name: name, Session: s})
		}
	}
	slices.SortFunc(out, func(a, b Tag) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// nameCell returns the cell of a title or a tag.
func nameCell(b records.NameBody) Cell {
	value := func(b records.NameBody) string {
		if b.Removed {
			return "removed"
		}
		return b.Target + " " + b.Name
	}
	what := "tag " + b.Name
	if b.Field == records.FieldTitle {
		what = "title of " + records.ShortID(strings.TrimPrefix(b.Target, "session/"))
	}
	was := b
	was.Removed = true
	if b.Field == records.FieldTitle {
		was.Name = ""
	}
	return Cell{Slot: "name/" + b.Slot(), What: what, Value: value(b), Restore: Statement{records.KindName, b},
		Empty: emptyCell{value(was), Statement{records.KindName, was}}}
}

// Rev returns the revision that a tag names in a project.
func (t Tag) Rev(p Project) Rev {
	rev := Rev{Kind: IsSession, Project: p, Session: t.Session, Hash: t.Session.Now().Original, How: "tag"}
	if t.Version != nil {
		rev.Kind, rev.Version, rev.Hash = IsVersion, t.Version, t.Version.Derivation.Output
	}
	return rev
}
