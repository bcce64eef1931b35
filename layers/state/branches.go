package state

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/objects"
)

// A session that went on differently on several devices is as many sessions with a common beginning, like forks of one: its
// branches. The ID of a branch is that of the session with the first device of the branch, see [records.SessionOn], and is the
// same on every device. Everything that takes a session takes a branch. Records from before the devices knew of each other
// name the session: those about a text are about the branch with that text, and what the user set is set for all branches.

// A head is a session as a device captured it last.
type head struct {
	*records.Point
	typed []records.TypedKey // of the whole generation
}

// heads returns the heads of all devices in the order of their first captures.
func (s *Session) heads() (out []head) {
	for i := range s.Points {
		device := s.Points[i].Stamp.Device
		if !slices.ContainsFunc(out, func(h head) bool { return h.Stamp.Device == device }) {
			out = append(out, head{Point: &s.Points[s.furthest(device)]})
		}
	}
	if len(out) > 1 && s.Parent() == "" {
		for i := range out {
			for _, p := range s.Chain(out[i].Point) {
				out[i].typed = append(out[i].typed, p.Typed...)
			}
		}
	}
	return out
}

// furthest returns the position of the furthest point in the last generation of a device.
func (s *Session) furthest(device string) int {
	at := -1
	for i := len(s.Points) - 1; i >= 0; i-- {
		p := &s.Points[i]
		if p.Stamp.Device == device && (at < 0 || p.Generation == s.Points[at].Generation && p.Further(&s.Points[at]) > 0) {
			at = i
		}
	}
	return at
}

// within reports whether o has all turns of h: what was typed last in h, and after it as many messages.
func (h head) within(o head) bool {
	if len(h.typed) == 0 || h.Point == o.Point {
		return true
	}
	last := slices.MaxFunc(h.typed, later)
	var there *records.TypedKey
	for i := range o.typed {
		if t := &o.typed[i]; t.Key == last.Key && (there == nil || later(*t, *there) > 0) {
			there = t
		}
	}
	if there == nil {
		return false
	}
	end := o.Scan.Messages // of that turn
	for _, t := range o.typed {
		if t.Messages > there.Messages {
			end = min(end, t.Messages)
		}
	}
	return h.Scan.Messages-last.Messages <= end-there.Messages
}

// later orders typed messages of a session.
func later(a, b records.TypedKey) int {
	return cmp.Or(cmp.Compare(a.Messages, b.Messages), cmp.Compare(a.N, b.N))
}

// divide fills Sessions: the branches of each of Files.
func (st *State) divide() {
	Order(st.Files, func(a, b **Session) int { return cmp.Compare((*a).ID, (*b).ID) })
	st.fileAt = nil
	st.Sessions = make([]*Session, 0, len(st.Files))
	for _, s := range st.Files {
		Order(s.Points, func(a, b *records.Point) int { return a.Stamp.Compare(b.Stamp) })
		s.Deleted, s.Overrides, s.Renamed, s.Tags, s.Under = false, nil, "", nil, ""
		st.Sessions = s.divide(st.Sessions)
	}
	Order(st.Sessions, func(a, b **Session) int { return cmp.Compare((*a).ID, (*b).ID) })
	st.ByID = nil
	st.Index()
	if len(st.branches) == 0 {
		return
	}
	for _, s := range st.Sessions {
		if up := st.branches[s.Parent()]; up != nil {
			s.Under = on(up, s.Points[0].Stamp.Device).ID
		}
	}
}

// divide appends the branches of a session, or the session itself, to list, and determines Now.
func (s *Session) divide(list []*Session) []*Session {
	one := true
	for i := range s.Points {
		one = one && s.Points[i].Stamp.Device == s.Points[0].Stamp.Device
	}
	if one {
		s.NowAt = s.furthest(s.Points[0].Stamp.Device)
		return append(list, s)
	}
	heads := s.heads()
	var out []*Session
	var ends []head // those whose turns no other head has
	for i, h := range heads {
		if !slices.ContainsFunc(heads[:i], h.within) && !slices.ContainsFunc(heads[i+1:], func(o head) bool {
			return h.within(o) && !o.within(h)
		}) {
			ends = append(ends, h)
			out = append(out, s)
		}
	}
	if len(ends) == 0 { // records of another program, in which each is within the next
		ends, out = heads[:1], append(out, s)
	}
	if len(ends) > 1 {
		for i := range out {
			out[i] = &Session{File: s.ID}
		}
	}
	now := make([]*records.Point, len(ends))
	of := map[string]int{} // branches by device
	for _, h := range heads {
		i := max(0, slices.IndexFunc(ends, h.within))
		of[h.Stamp.Device] = i
		if ends[i].within(h) && (now[i] == nil || h.Further(now[i]) > 0) {
			now[i] = h.Point
		}
		if only := !slices.ContainsFunc(ends[i+1:], h.within); only && out[i].ID == "" {
			out[i].ID = records.SessionOn(s.ID, h.Stamp.Device)
		}
	}
	for i, branch := range out {
		at := now[i].Stamp // branch.Points may move
		if branch != s {
			branch.Points = slices.DeleteFunc(slices.Clone(s.Points), func(p records.Point) bool { return of[p.Stamp.Device] != i })
		}
		branch.NowAt = slices.IndexFunc(branch.Points, func(p records.Point) bool { return p.Stamp == at })
	}
	return append(list, out...)
}

// FileID returns the ID that the client gave to the session: without the device of a branch.
func (s *Session) FileID() string { return cmp.Or(s.File, s.ID) }

// Device returns the device in the ID of a branch.
func (s *Session) Device() string {
	_, device := records.CutDevice(s.ID)
	return s.Points[slices.IndexFunc(s.Points, func(p records.Point) bool { return strings.HasPrefix(p.Stamp.Device, device) })].Stamp.Device
}

// On reports whether a device, named by the start of its ID, has captured the session.
func (s *Session) On(device string) bool {
	return slices.ContainsFunc(s.Points, func(p records.Point) bool { return strings.HasPrefix(p.Stamp.Device, device) })
}

// on returns the branch of a device, or the first one.
func on(branches []*Session, device string) *Session {
	return branches[max(0, slices.IndexFunc(branches, func(s *Session) bool { return s.On(device) }))]
}

// Index builds the index for [State.Session]. Call it before several goroutines use the state.
func (st *State) Index() {
	if st.ByID != nil {
		return
	}
	st.ByID, st.branches = make(map[string]*Session, len(st.Sessions)), nil
	for _, s := range st.Sessions {
		st.ByID[s.ID] = s
		if s.File != "" {
			if st.branches == nil {
				st.branches = map[string][]*Session{}
			}
			st.branches[s.FileID()] = append(st.branches[s.FileID()], s)
		}
	}
}

// Branches returns the branches of a session, in the order of their IDs, nil if it has one.
func (st *State) Branches(s *Session) []*Session {
	st.Index()
	return st.branches[s.FileID()]
}

// SessionsNamed returns the sessions that an ID in a record names: all branches of a session, or the one of the device in the
// ID. What is set for a branch has no effect where that branch is not known.
func (st *State) SessionsNamed(id string) []*Session {
	st.Index()
	if all := st.branches[id]; all != nil {
		return all
	}
	if s := st.Session(id); s != nil {
		return []*Session{s}
	}
	return nil
}

// Session returns the session with an ID, nil if there is none: of several branches that of this device, or else the first
// one. The ID of a branch names the session itself where that is the only branch that is known.
func (st *State) Session(id string) *Session {
	st.Index()
	if s := st.ByID[id]; s != nil {
		return s
	}
	file, device := records.CutDevice(id)
	all := st.branches[file]
	if device == "" {
		if all == nil {
			return nil
		}
		return on(all, st.own)
	}
	if s := st.ByID[file]; s != nil {
		all = []*Session{s}
	}
	if i := slices.IndexFunc(all, func(s *Session) bool { return s.On(device) }); i >= 0 {
		return all[i]
	}
	return nil
}

// IDOf returns the ID of the session that a record of a device about a text names: of several branches the one with the text,
// or else that of the device.
func (st *State) IDOf(id string, text objects.Hash, device string) string {
	all := st.branches[id]
	with := slices.DeleteFunc(slices.Clone(all), func(s *Session) bool { return s.Point(text) == nil })
	if len(with) == 0 {
		with = all
	}
	if len(with) > 0 {
		return on(with, device).ID
	}
	if s := st.Session(id); s != nil {
		return s.ID
	}
	return id
}
