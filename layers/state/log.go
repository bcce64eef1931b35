package state

import (
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/objects"
)

// StampsOf returns the stamps of the records that speak of what rev names.
func (st *State) StampsOf(rev Rev) []records.Stamp {
	var out []records.Stamp
	target, _, _ := rev.Target()
	targets := map[string]bool{target: target != ""}
	session, label, name := "", "", ""
	hash := objects.Hash{}
	switch {
	case rev.Kind == IsObject:
		hash = rev.Hash
	case rev.Composition != nil:
		name = rev.Composition.Name
	case rev.Version != nil:
		session, label = rev.Version.Session, rev.Version.Label
	case rev.Session != nil:
		session = rev.Session.ID
		targets["session/"+session] = true
	}
	for _, s := range st.Sessions {
		for _, p := range s.Points {
			if label == "" && s.ID == session || p.Original == hash {
				out = append(out, p.Stamp)
			}
		}
	}
	for _, v := range st.Stored.Versions {
		ofSession := session != "" && v.Body.Session == session && (label == "" || v.Stamp.Record == rev.versionID())
		if ofSession || v.Body.Derivation.Output == hash {
			out = append(out, v.Stamp)
			targets["version/"+v.Stamp.Record.String()] = true
		}
	}
	for _, c := range st.Stored.Compositions {
		uses := session != "" && slices.ContainsFunc(c.Body.Parts, func(p records.CompositionPart) bool {
			return p.Session == session && (label == "" || p.Label == label)
		})
		if uses || name != "" && c.Body.Name == name || c.Body.Derivation.Output == hash {
			out = append(out, c.Stamp)
		}
	}
	for _, o := range st.Keepits {
		if session != "" && label == "" && o.Session == session {
			out = append(out, o.Stamp)
		}
	}
	for _, a := range st.Sets {
		if targets[a.Target] {
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
