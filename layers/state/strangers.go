package state

import (
	"context"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/refs"
)

// What a device that the user does not trust says is in the state of a project, so that it can be listed, and
// changes nothing of what the user and trusted devices said: not what "@", a title or a label names, not where
// a session stands, what is deleted, how heavy a marker is, what was used or what the project is called. Its
// things are named with the device behind, as 6ecd8c99~3b0e55d1, v002~3b0e55d1, feature-x~3b0e55d1 and
// shop~3b0e55d1, and resolve only so. Trusting the device makes the state anew.

// guestTarget marks the targets of assignments of devices that are not trusted.
const guestTarget = "guest "

// A guestName is what devices that are not trusted call a project.
type guestName struct {
	Name  string
	Stamp records.Stamp
}

func (g *guestName) claim(s records.Stamp, b records.ProjectBody) {
	if g.Name == "" || s.Compare(g.Stamp) > 0 {
		*g = guestName{b.Name, s}
	}
}

// FromStranger reports whether a device is not trusted.
func (st *State) FromStranger(device string) bool {
	_, found := slices.BinarySearch(st.Strangers, device)
	return found
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

// StrangersAt returns the devices with a tip that the user does not trust, sorted.
func (m *DB) StrangersAt(ctx context.Context, p refs.Project, tips []refs.Tip) ([]string, error) {
	own := m.Refs.Device().ID
	if p == refs.Home || !slices.ContainsFunc(tips, func(t refs.Tip) bool { return t.Device != own }) {
		return nil, nil
	}
	trust, err := m.Trust(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, t := range tips {
		if !trust.Of(t.Device) {
			out = append(out, t.Device)
		}
	}
	slices.Sort(out)
	return out, nil
}
