package layers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/refs"
)

// Rehearsal: what a session used comes nearer again. A session that was started from a composition, or was given its
// text, says so in a "use" record; the parts of the composition count as accessed then. So do the sessions that the context
// tells of which a session gets at its start.

// A Use says that a session used something of memory: the body of a "use" record.
type Use struct {
	By      string    `json:"by"`      // the session that used it
	At      time.Time `json:"at"`      // when, by the clock of that session
	Targets []string  `json:"targets"` // session/<id>, version/<record>, composition/<name>
}

type storedUse struct {
	Use
	Stamp stamp
}

// A Rehearsal is what uses tell of a thing.
type Rehearsal struct {
	Last time.Time // zero if it was never used
	By   []string  // the sessions that used it, in the order of first use
}

// rehearse counts a use.
func (r *Rehearsal) rehearse(u Use) {
	if u.At.After(r.Last) {
		r.Last = u.At
	}
	if !slices.Contains(r.By, u.By) {
		r.By = append(r.By, u.By)
	}
}

// applyUses fills in, from the uses in their order, what was used when.
func (st *State) applyUses() {
	order(st.Uses, func(a, b *storedUse) int { return a.Stamp.compare(b.Stamp) })
	at := map[string]*Rehearsal{}
	for _, s := range st.Sessions {
		s.Used = Rehearsal{}
	}
	for _, u := range st.Uses {
		for _, target := range u.Targets {
			if at[target] == nil {
				at[target] = &Rehearsal{}
			}
			at[target].rehearse(u.Use)
		}
	}
	for _, s := range st.Sessions {
		if r := at["session/"+s.ID]; r != nil {
			s.Used = *r
		}
	}
	for _, v := range st.Versions {
		v.Used = Rehearsal{}
		if r := at["version/"+v.ID.String()]; r != nil {
			v.Used = *r
		}
	}
	for _, c := range st.Compositions {
		c.Used = Rehearsal{}
		if r := at["composition/"+c.Name]; r != nil {
			c.Used = *r
		}
	}
}

// Accessed returns when a session was worked on or used last: the later of its last message and its last use.
func (s *Session) Accessed() time.Time {
	if last := s.Now().Scan.Last; !s.Used.Last.After(last) {
		return last
	}
	return s.Used.Last
}

// accessed returns the seeds' lastAccessed: when the session was captured or used last, whichever is later.
func (s *Session) accessed() time.Time {
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

// Distance returns how many sessions ago s was, 1 for the nearest; 0 for what is not in the list. A session counts from
// its end or from when it was used last, whichever is later.
func (st *State) Distance(s *Session) int { return slices.Index(st.near(), s) + 1 }

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
			if p.Project != st.Project || st.session(p.Session) == nil {
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

// RecordUse notes that the session by used what rev names, at a time by its clock. That a session uses the same
// again is not noted again.
func (m *Memory) RecordUse(ctx context.Context, rev Rev, by string, at time.Time) error {
	st, err := m.Outline(ctx, rev.Project.ID)
	if err != nil {
		return err
	}
	u := Use{By: by, At: at.UTC().Truncate(time.Second), Targets: st.Targets(rev)}
	if len(u.Targets) == 0 || st.used(u) {
		return nil
	}
	return m.recordUse(ctx, rev.Project.ID, u, fmt.Sprintf("use %s  by %s", rev.Name(), ShortID(by)))
}

func (m *Memory) recordUse(ctx context.Context, p refs.Project, u Use, message string) error {
	return m.repo.Update(ctx, p, message, func(tx *refs.Tx) error {
		tx.Trailer("Op", "use")
		tx.Trailer("Session", u.By)
		_, err := tx.Add(kindUse, u)
		return err
	})
}

// RecordGiven notes that the session by was given a context that tells of sessions, if by is a session of the project: one that
// nobody went on with used nothing. Known says whether it is. That it is given the same again is not noted again.
func (m *Memory) RecordGiven(ctx context.Context, p refs.Project, by string, sessions []string, at time.Time) (known bool, err error) {
	st, err := m.Outline(ctx, p)
	if err != nil {
		return false, err
	}
	if s := st.session(by); s == nil || s.Now().Scan.Messages == 0 {
		return false, nil
	}
	u := Use{By: by, At: at.UTC().Truncate(time.Second)}
	for _, id := range sessions {
		if one := (Use{By: by, Targets: []string{"session/" + id}}); id != by && st.session(id) != nil && !st.used(one) {
			u.Targets = append(u.Targets, one.Targets[0])
		}
	}
	if len(u.Targets) == 0 {
		return true, nil
	}
	return true, m.recordUse(ctx, p, u, fmt.Sprintf("use %s  by %s", numbered(len(u.Targets), "session", "sessions"), ShortID(by)))
}

// used reports whether all of a use is known already.
func (st *State) used(u Use) bool {
	return !slices.ContainsFunc(u.Targets, func(target string) bool {
		return !slices.ContainsFunc(st.Uses, func(x storedUse) bool { return x.By == u.By && slices.Contains(x.Targets, target) })
	})
}

// started returns the uses that a capture tells of: the compositions that the session was started from. The first
// message of a composition names it and its sources, so whoever holds that message holds the composition. A copy of the
// composition that nobody went on from used nothing.
func (st *State) started(c *capture) []Use {
	typed, echo := c.snap.Typed, len(c.snap.Echo)
	if c.base != nil {
		for _, p := range c.known.chain(c.base) {
			typed, echo = append(slices.Clone(typed), p.Typed...), echo+len(p.Echo)
		}
	}
	if echo == 0 || echo >= len(typed) {
		return nil
	}
	var out []Use
	for _, k := range slices.Backward(st.Compositions) {
		if k.Deleted || len(k.Typed) == 0 || !slices.ContainsFunc(typed, func(t TypedKey) bool { return t.Key == k.Typed[0] }) {
			continue
		}
		u := Use{By: c.snap.Session, At: c.snap.Scan.Last, Targets: st.Targets(Rev{Composition: k})}
		if !st.used(u) {
			out = append(out, u)
		}
	}
	slices.SortFunc(out, func(a, b Use) int { return cmp.Compare(strings.Join(a.Targets, " "), strings.Join(b.Targets, " ")) })
	return slices.CompactFunc(out, func(a, b Use) bool { return slices.Equal(a.Targets, b.Targets) })
}
