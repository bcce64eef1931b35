package state

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/transcript"
)

// The data of an untrusted device is in the state of a project so that it can be listed. It does not change the data of
// the user and of trusted devices: what "@", a title or a label names, where a session is now, what is deleted, the
// weights of markers, uses, and the name of the project. Things of an untrusted device have the device in their names
// (6ecd8c99~3b0e55d1, v002~3b0e55d1, feature-x~3b0e55d1, shop~3b0e55d1) and are found only under these. If the device
// is trusted later, the state is built again.

// untrustedTarget is the prefix of the targets of assignments of untrusted devices.
const untrustedTarget = "guest "

func (g *claimedName) claim(s records.Stamp, b records.ProjectBody) {
	if s.Compare(g.Stamp) > 0 {
		*g = claimedName{b.Name, s}
	}
}

// WithDevice returns the name of a thing of an untrusted device: name~device.
func WithDevice(name, device string) string { return name + "~" + device[:min(8, len(device))] }

// nameBy returns the name here of something that a device has named.
func (st *State) nameBy(name, device string) string {
	if st.IsUntrusted(device) {
		return WithDevice(name, device)
	}
	return name
}

// assignedBy returns an assignment of a device. If the device is not trusted, the target is changed so that the
// assignment cannot replace another one.
func (st *State) assignedBy(b records.SetBody, device string) records.SetBody {
	if !st.IsUntrusted(device) {
		return b
	}
	if name, ok := strings.CutPrefix(b.Target, "composition/"); ok {
		b.Target = "composition/" + WithDevice(name, device)
	} else {
		b.Target = untrustedTarget + b.Target
	}
	return b
}

// separateUntrusted separates the growth points of a session by trusted and other devices.
func (st *State) separateUntrusted(s *Session) {
	if len(st.Untrusted) == 0 {
		return
	}
	var own, guests []records.Point
	for _, p := range append(s.Points, s.UntrustedPoints...) {
		if st.IsUntrusted(p.Stamp.Device) {
			guests = append(guests, p)
		} else {
			own = append(own, p)
		}
	}
	if s.Points, s.UntrustedPoints = own, guests; len(own) == 0 {
		s.Points, s.UntrustedPoints = guests, nil
	}
}

// ofDevice returns the session of the device whose ID begins with prefix, nil if that device does not have it.
func (s *Session) ofDevice(prefix string) *Session {
	var points []records.Point
	device := ""
	for _, p := range slices.Concat(s.Points, s.UntrustedPoints) {
		if strings.HasPrefix(p.Stamp.Device, prefix) {
			points, device = append(points, p), p.Stamp.Device
		}
	}
	if len(points) == 0 {
		return nil
	}
	only := *s
	only.Points, only.UntrustedPoints, only.UntrustedDevice = points, nil, device
	only.settle()
	return &only
}

// Named returns the session of a device if it has this name there, else nil.
func (s *Session) Named(name, device string) *Session {
	if device == "" || s.Matches(name) == "" && s.UntrustedPoints == nil {
		return nil
	}
	if one := s.ofDevice(device); one != nil && one.Matches(name) != "" {
		return one
	}
	return nil
}

// UntrustedSessions returns the names of the sessions that only untrusted devices have, the newest first.
func (st *State) UntrustedSessions() (out []string) {
	var all []*Session
	for _, s := range st.Sessions {
		if s.UntrustedDevice != "" && s.Shown() && s.Parent() == "" {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b *Session) int { return b.Now().Ended().Compare(a.Now().Ended()) })
	for _, s := range all {
		out = append(out, s.Name())
	}
	return out
}

// Name returns the name of a session in lists: the start of its ID, with the device if that is not trusted.
func (s *Session) Name() string {
	if s.UntrustedDevice != "" {
		return WithDevice(records.ShortID(s.ID), s.UntrustedDevice)
	}
	return records.ShortID(s.ID)
}

// AsProject returns the project of a state. If only untrusted devices have named it, the name includes the device.
func (st *State) AsProject() Project {
	if st.Name != "" || st.ClaimedName.Name == "" {
		return Project{st.Project, st.Name, st.Identity}
	}
	return Project{ID: st.Project, Name: WithDevice(brief.Plain(st.ClaimedName.Name, 60), st.ClaimedName.Stamp.Device)}
}

// SeenElsewhere reports whether a typed message is in another session or in a composition. If it is in none, it is
// recorded as the session's.
func (st *State) SeenElsewhere(k transcript.Key, session string) bool {
	if st.Typed == nil {
		st.Typed = map[transcript.Key]string{}
		for _, c := range st.Compositions {
			if st.IsUntrusted(c.Device) {
				continue
			}
			for _, k := range c.Typed {
				st.Typed[k] = "composition " + c.Name
			}
		}
		for _, s := range st.Sessions {
			if s.UntrustedDevice != "" {
				continue // otherwise an untrusted device could claim messages of the user
			}
			for _, p := range s.Points {
				for _, t := range p.Typed {
					if _, ok := st.Typed[t.Key]; !ok {
						st.Typed[t.Key] = s.ID
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
