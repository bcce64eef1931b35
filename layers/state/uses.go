package state

import (
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/records"
)

// applyUses fills in, from the uses in their order, what was used when.
func (st *State) applyUses() {
	Order(st.Uses, func(a, b *StoredUse) int { return a.Stamp.Compare(b.Stamp) })
	at := map[string]*records.Rehearsal{}
	for _, s := range st.Sessions {
		s.Used = records.Rehearsal{}
	}
	for _, u := range st.Uses {
		for _, target := range u.Targets {
			names := []string{target}
			if id, ok := strings.CutPrefix(target, "session/"); ok && st.Session(id) != nil && st.Session(id).ID != id {
				names = nil
				for _, s := range st.SessionsNamed(id) {
					names = append(names, "session/"+s.ID)
				}
			}
			for _, name := range names {
				if at[name] == nil {
					at[name] = &records.Rehearsal{}
				}
				at[name].Rehearse(u.Use)
			}
		}
	}
	for _, s := range st.Sessions {
		if r := at["session/"+s.ID]; r != nil {
			s.Used = *r
		}
	}
	for _, v := range st.Versions {
		v.Used = records.Rehearsal{}
		if r := at["version/"+v.ID.String()]; r != nil {
			v.Used = *r
		}
	}
	for _, c := range st.Compositions {
		c.Used = records.Rehearsal{}
		if r := at["composition/"+c.Name]; r != nil {
			c.Used = *r
		}
	}
}

// Accessed returns when a session was worked on or used last: the later of its last message and its last use.
func (s *Session) Accessed() time.Time {
	if last := s.Now().Ended(); !s.Used.Last.After(last) {
		return last
	}
	return s.Used.Last
}

// LastAccess returns the seeds' lastAccessed: when the session was captured or used last, whichever is later.
func (s *Session) LastAccess() time.Time {
	if t := s.Now().Time; !s.Used.Last.After(t) {
		return t
	}
	return s.Used.Last
}

// near returns the sessions by how near they are, the nearest first: what was used lately is near again. Names go by
// [State.Recent]: using an old session must not change what "@~3" means.
func (st *State) near() []*Session {
	out := st.Recent()
	slices.SortStableFunc(out, func(a, b *Session) int { return b.Accessed().Compare(a.Accessed()) })
	return out
}

// Distance returns how many sessions ago s ended or was used last, 1 for the nearest; 0 for what is not in the list. s may
// be of another state.
func (st *State) Distance(s *Session) int {
	if s == nil {
		return 0
	}
	return st.Distances()[s.ID]
}

// Distances returns [State.Distance] of all sessions that have one, by their IDs.
func (st *State) Distances() map[string]int {
	out := map[string]int{}
	for i, s := range st.near() {
		out[s.ID] = i + 1
	}
	return out
}

// Targets returns what a use of rev is a use of: a composition with its parts of the same project, a version with
// its session, a session.
func (st *State) Targets(rev Rev) []string {
	var out []string
	add := func(target string) {
		if !slices.Contains(out, target) {
			out = append(out, target)
		}
	}
	switch {
	case rev.Composition != nil:
		add("composition/" + rev.Composition.Name)
		for _, p := range rev.Composition.Parts {
			if p.Project != st.Project || st.Session(p.Session) == nil {
				continue
			}
			add("session/" + p.Session)
			for _, v := range st.Versions {
				if v.Session == p.Session && v.Derivation.Output == p.Output {
					add("version/" + v.ID.String())
				}
			}
		}
	case rev.Session != nil:
		add("session/" + rev.Session.ID)
		if rev.Version != nil {
			add("version/" + rev.Version.ID.String())
		}
	}
	return out
}

// Used reports whether all of a use is known already.
func (st *State) Used(u records.Use) bool {
	return !slices.ContainsFunc(u.Targets, func(target string) bool {
		return !slices.ContainsFunc(st.Uses, func(x StoredUse) bool {
			return x.By == u.By && slices.Contains(x.Targets, target)
		})
	})
}
