package state

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/transcript"
)

// What a device that the user does not trust says is in the state of a project, so that it can be listed, and
// changes nothing of what the user and trusted devices said: not what "@", a title or a label names, not where
// a session stands, what is deleted, how heavy a marker is, what was used or what the project is called. Its
// things are named with the device behind, as 6ecd8c99~3b0e55d1, v002~3b0e55d1, feature-x~3b0e55d1 and
// shop~3b0e55d1, and resolve only so. Trusting the device makes the state anew.

// guestTarget marks the targets of assignments of devices that are not trusted.
const guestTarget = "guest "

func (g *guestName) claim(s records.Stamp, b records.ProjectBody) {
	if g.Name == "" || s.Compare(g.Stamp) > 0 {
		*g = guestName{b.Name, s}
	}
}

// Stranger reports whether a device with a lane of the project is not trusted.
func (st *State) Stranger(device string) bool { return st.FromStranger(device) }

// WithDevice is how a thing of a device is named.
func WithDevice(name, device string) string { return name + "~" + device[:min(8, len(device))] }

// nameBy returns what something that a device called name is called here.
func (st *State) nameBy(name, device string) string {
	if st.FromStranger(device) {
		return WithDevice(name, device)
	}
	return name
}

// assignedBy returns an assignment of a device with a target of its own: one of a device that is not trusted
// wins against no other.
func (st *State) assignedBy(b records.SetBody, device string) records.SetBody {
	if !st.FromStranger(device) {
		return b
	}
	if name, ok := strings.CutPrefix(b.Target, "composition/"); ok {
		b.Target = "composition/" + WithDevice(name, device)
	} else {
		b.Target = guestTarget + b.Target
	}
	return b
}

// seat divides the growth points of a session between trusted devices and others.
func (st *State) seat(s *Session) {
	if len(st.Strangers) == 0 {
		return
	}
	var own, guests []records.Point
	for _, p := range append(s.Points, s.Guests...) {
		if st.FromStranger(p.Stamp.Device) {
			guests = append(guests, p)
		} else {
			own = append(own, p)
		}
	}
	if s.Points, s.Guests = own, guests; len(own) == 0 {
		s.Points, s.Guests = guests, nil
	}
}

// by returns the session as the device whose id begins with prefix has it, nil if it does not.
func (s *Session) by(prefix string) *Session {
	var points []records.Point
	device := ""
	for _, p := range slices.Concat(s.Points, s.Guests) {
		if strings.HasPrefix(p.Stamp.Device, prefix) {
			points, device = append(points, p), p.Stamp.Device
		}
	}
	if len(points) == 0 {
		return nil
	}
	only := *s
	only.Points, only.Guests, only.Guest = points, nil, device
	only.settle()
	return &only
}

// Named returns the session as a device has it if that calls it name, else nil.
func (s *Session) Named(name, device string) *Session {
	if device == "" || s.Matches(name) == "" && s.Guests == nil {
		return nil
	}
	if one := s.by(device); one != nil && one.Matches(name) != "" {
		return one
	}
	return nil
}

// Guests returns the names of the sessions that only devices which are not trusted have, the newest first.
func (st *State) Guests() (out []string) {
	var all []*Session
	for _, s := range st.Sessions {
		if s.Guest != "" && s.Shown() && s.Parent() == "" {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b *Session) int { return b.Now().Scan.Last.Compare(a.Now().Scan.Last) })
	for _, s := range all {
		out = append(out, s.Name())
	}
	return out
}

// Name returns what a session is called in lists: the start of its id, with the device behind it if that is not
// trusted.
func (s *Session) Name() string {
	if s.Guest != "" {
		return WithDevice(records.ShortID(s.ID), s.Guest)
	}
	return records.ShortID(s.ID)
}

// CountedOf returns the versions of a session that commands choose from: those of devices that are not trusted
// only of their own sessions.
func (st *State) CountedOf(session string) []*records.Version {
	all := st.VersionsOf(session)
	if s := st.Session(session); s != nil && s.Guest != "" {
		return all
	}
	return slices.DeleteFunc(all, func(v *records.Version) bool { return v.ByStranger })
}

// AsProject returns the project of a state. One that only devices which are not trusted name has the name with
// the device.
func (st *State) AsProject() Project {
	if st.Name != "" || st.Guest.Name == "" {
		return Project{st.Project, st.Name, st.Identity}
	}
	return Project{ID: st.Project, Name: WithDevice(brief.Plain(st.Guest.Name, 60), st.Guest.Stamp.Device)}
}

// SeenElsewhere reports whether a typed message is known from another session or from a composition. If it
// was never seen, it is the session's from now on.
func (st *State) SeenElsewhere(k transcript.Key, session string) bool {
	if st.Typed == nil {
		st.Typed = map[transcript.Key]string{}
		for _, c := range st.Compositions {
			if st.FromStranger(c.Device) {
				continue
			}
			for _, k := range c.Typed {
				st.Typed[k] = "composition " + c.Name
			}
		}
		for _, s := range st.Sessions {
			if s.Guest != "" {
				continue // else a device that is not trusted could take words away from the user
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
