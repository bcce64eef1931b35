package state

import (
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/objects"
)

// A meaning is what a revision names, in the words of records.
type meaning struct {
	session, label string
	file           string          // the ID of the file of the session: what was set for all of its branches
	version        objects.Hash    // of the record of a version
	composition    string          // its name
	hash           objects.Hash    // of an object
	targets        map[string]bool // of assignments
}

func (r Rev) meaning() meaning {
	target, _, _ := r.Target()
	m := meaning{version: r.versionID(), targets: map[string]bool{target: target != ""}}
	switch {
	case r.Kind == IsObject:
		m.hash = r.Hash
	case r.Composition != nil:
		m.composition = r.Composition.Name
	case r.Version != nil:
		m.session, m.label = r.Version.Session, r.Version.Label
	case r.Session != nil:
		m.session, m.file = r.Session.ID, r.Session.FileID()
		m.targets["session/"+m.session], m.targets["session/"+m.file] = true, true
	}
	return m
}

// whole reports whether all of a session is meant.
func (m meaning) whole(session string) bool {
	return m.session != "" && m.label == "" && (session == m.session || session == m.file)
}

// made reports whether a stored version is meant, or is of a session that is.
func (m meaning) made(v *StoredItem[records.Version]) bool {
	of := m.session != "" && v.Body.Session == m.session && (m.label == "" || v.Stamp.Record == m.version)
	return of || v.Body.Derivation.Output == m.hash
}

// composed reports whether a stored composition is meant, or uses what is.
func (m meaning) composed(c *StoredItem[records.Composition]) bool {
	uses := m.session != "" && slices.ContainsFunc(c.Body.Parts, func(p records.CompositionPart) bool {
		return p.Session == m.session && (m.label == "" || p.Label == m.label)
	})
	return uses || m.composition != "" && c.Body.Name == m.composition || c.Body.Derivation.Output == m.hash
}

// StampsOf returns the stamps of the records that speak of what rev names.
func (st *State) StampsOf(rev Rev) []records.Stamp {
	var out []records.Stamp
	m := rev.meaning()
	for _, s := range st.Sessions {
		for _, p := range s.Points {
			if m.label == "" && s.ID == m.session || p.Original == m.hash {
				out = append(out, p.Stamp)
			}
		}
	}
	for i, v := range st.Stored.Versions {
		if v.Body = st.Versions[i]; m.made(&v) {
			out = append(out, v.Stamp)
			m.targets["version/"+v.Stamp.Record.String()] = true
		}
	}
	for i, c := range st.Stored.Compositions {
		if c.Body = st.Compositions[i]; m.composed(&c) {
			out = append(out, c.Stamp)
		}
	}
	for _, o := range st.Keepits {
		if m.whole(o.Session) {
			out = append(out, o.Stamp)
		}
	}
	for _, a := range st.Sets {
		if m.targets[a.Target] {
			out = append(out, a.Stamp)
		}
	}
	return out
}

func (r Rev) versionID() (id objects.Hash) {
	if r.Version != nil {
		id = r.Version.ID
	}
	return id
}
