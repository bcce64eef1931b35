package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
)

// StateNames returns the names of all states of compositions, by their records: ctx for the newest, ctx@{1} for the
// one before.
func StateNames(st *State) map[objects.Hash]string {
	names, later := map[objects.Hash]string{}, map[string]int{}
	for _, c := range slices.Backward(st.Compositions) {
		if c.Deleted {
			continue
		}
		names[c.ID] = c.Name
		if n := later[c.Name]; n > 0 {
			names[c.ID] = fmt.Sprintf("%s@{%d}", c.Name, n)
		}
		later[c.Name]++
	}
	return names
}

// Point returns the growth point with that content, nil if there is none.
func (s *Session) Point(h objects.Hash) *records.Point {
	for i := range s.Points {
		if s.Points[i].Original == h {
			return &s.Points[i]
		}
	}
	return nil
}

// Captured returns the growth point that the device of p captured before p, nil if there is none. It is of another
// generation if the file was rewritten.
func (s *Session) Captured(p *records.Point) (before *records.Point) {
	for i := range s.Points {
		if &s.Points[i] == p {
			break
		}
		if s.Points[i].Stamp.Device == p.Stamp.Device {
			before = &s.Points[i]
		}
	}
	return before
}

// Now returns the current growth point of the session, which is the same on every device: of the last captures of all
// devices, the furthest of those with all turns. An older copy on another device has no effect.
func (s *Session) Now() *records.Point { return &s.Points[s.NowAt] }

// Last returns the last capture of a device, nil if there is none.
func (s *Session) Last(device string) *records.Point {
	for i := len(s.Points) - 1; i >= 0; i-- {
		if s.Points[i].Stamp.Device == device {
			return &s.Points[i]
		}
	}
	return nil
}

// Before returns the growth point of the same device and generation before the i-th one, nil if there is none.
func (s *Session) Before(i int) *records.Point {
	for k := i - 1; k >= 0; k-- {
		if s.Points[k].Generation == s.Points[i].Generation && s.Points[k].Stamp.Device == s.Points[i].Stamp.Device {
			return &s.Points[k]
		}
	}
	return nil
}

// Parent returns the session that started this one as a subagent, "" if it is not a subagent.
func (s *Session) Parent() string { return cmp.Or(s.Under, s.Now().Parent, s.Now().Scan.Parent()) }

// ForkOf returns the session that a fork was made from, "" if the session is no fork.
func (s *Session) ForkOf() string {
	for i := range s.Points {
		if of := s.Points[i].ForkOf; of != "" {
			return of
		}
	}
	return ""
}

// ForkID returns the ID of the nth fork that mem resume writes of a session: a UUID, the same each time.
func (s *Session) ForkID(n int) string {
	sum := objects.Sum(fmt.Appendf(nil, "mem fork %d\n%s", n, s.ID))
	sum[6], sum[8] = sum[6]&0x0f|forkVersion, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// forkVersion is the version in the UUID of a fork, which the client does not use.
const forkVersion = 0x80

// Forked returns the session of which mem resume wrote a fork with an ID, nil for none.
func (st *State) Forked(id string) *Session {
	const version, most = 14, 8
	if len(id) != 36 || id[version] != '8' {
		return nil
	}
	for n := range most {
		for _, s := range st.Sessions {
			if s.ForkID(n+1) == id {
				return s
			}
		}
	}
	return nil
}

// Title returns the title of the session in lists: its [Session.OwnTitle], and if the transcripts of other sessions of the
// project have the same, what tells them apart: the next request, or else the day, or else the ID.
func (s *Session) Title() string {
	if s.Renamed != "" {
		return s.Renamed
	}
	return s.told()
}

// OwnTitle returns the title that the user gave to the session, or else the one in its transcript.
func (s *Session) OwnTitle() string { return cmp.Or(s.Renamed, s.Now().Scan.Title) }

// told returns the title in the transcript with what tells it apart.
func (s *Session) told() string {
	return strings.Join(append([]string{s.Now().Scan.Title}, s.Apart...), " · ")
}

// tellApart adds to equal titles of transcripts what differs in their sessions.
func (st *State) tellApart() {
	equal := map[string][]*Session{}
	for _, s := range st.Sessions {
		s.Apart = nil
		if s.Now().Scan.Title != "" && !s.Deleted {
			equal[s.told()] = append(equal[s.told()], s)
		}
	}
	for _, add := range []func(*Session) string{
		func(s *Session) string { return s.Now().Scan.Second },
		func(s *Session) string { return s.Now().Scan.Last.UTC().Format(time.DateOnly) },
		(*Session).Name,
	} {
		next := map[string][]*Session{}
		for _, list := range equal {
			same := !slices.ContainsFunc(list, func(s *Session) bool { return add(s) != add(list[0]) })
			for _, s := range list {
				if text := add(s); !same && text != "" {
					s.Apart = append(s.Apart, text)
				}
				next[s.told()] = append(next[s.told()], s)
			}
		}
		equal = next
	}
}

// Name returns the name of a session in lists: the start of its ID.
func (s *Session) Name() string { return records.ShortID(s.ID) }

// SeenElsewhere reports whether a typed message is in another session or in a composition. If it is in none, it is
// recorded as the session's.
func (st *State) SeenElsewhere(k transcript.Key, session string) bool {
	if st.Typed == nil {
		st.Typed = map[transcript.Key]string{}
		for _, c := range st.Compositions {
			for _, k := range c.Typed {
				st.Typed[k] = "composition " + c.Name
			}
		}
		for _, s := range st.Sessions {
			for _, p := range s.Points {
				for _, t := range p.Typed {
					if _, ok := st.Typed[t.Key]; !ok {
						st.Typed[t.Key] = p.Session
					}
				}
			}
		}
	}
	first, ok := st.Typed[k]
	if !ok {
		st.Typed[k] = session
	}
	return ok && first != session
}

// Echoes returns the messages up to p that are copies from another session or from mem.
func (s *Session) Echoes(p *records.Point) map[int]bool {
	out := map[int]bool{}
	for _, q := range s.Chain(p) {
		for _, n := range q.Echo {
			out[n] = true
		}
	}
	return out
}
