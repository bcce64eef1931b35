package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A Parted is a session that went on differently on several devices.
type Parted struct {
	Session  string // that Claude Code gave it
	Branches []Branch
}

// MarshalJSON writes it as "mem status --json" prints it.
func (p Parted) MarshalJSON() ([]byte, error) {
	return Object{"sessionId", p.Session, "branches", p.Branches}.MarshalJSON()
}

// A Branch is such a session as it went on on a device, or one that waits for the device.
type Branch struct {
	Session string `json:"sessionId"`
	Device  string `json:"device"`
}

// String says where the session went on, and how it is named there.
func (p Parted) String() string {
	var devices, ids []string
	for _, b := range p.Branches {
		devices, ids = append(devices, b.Device), append(ids, records.ShortID(b.Session))
	}
	return records.ShortID(p.Session) + " went on differently on " + strings.Join(devices, " and ") + ": " + strings.Join(ids, ", ")
}

// PartedLines returns a line for each of some sessions that went on differently, and one for the rest of many.
func PartedLines(all []Parted) []string {
	return someLines(Each(all, Parted.String), "%s went on differently on several devices: mem ls")
}

// someLines returns the first lines, and in place of the others the line rest with their number.
func someLines(lines []string, rest string) []string {
	const most = 4
	if n := len(lines) - most; n > 0 {
		lines = append(lines[:most], fmt.Sprintf(rest, term.Count(n, "more session")))
	}
	return lines
}

// PartedSessions returns the sessions of a project that went on differently on several devices. If device is not empty, it
// is only those that this device has captured.
func PartedSessions(ctx context.Context, db *state.DB, p refs.Project, device string) (out []Parted, err error) {
	st, err := trust.Outline(ctx, db, p)
	if err != nil {
		return nil, err
	}
	for _, s := range st.Sessions {
		all := slices.DeleteFunc(slices.Clone(st.Branches(s)), func(b *state.Session) bool { return !b.Shown() })
		if len(all) < 2 || s != all[0] {
			continue
		}
		x, captured := Parted{Session: s.File}, false
		for _, b := range all {
			name, err := trust.DeviceName(ctx, db, b.Device())
			if err != nil {
				return nil, err
			}
			x.Branches = append(x.Branches, Branch{b.ID, name})
			captured = captured || b.On(device)
		}
		if captured {
			out = append(out, x)
		}
	}
	return out, nil
}

// NoteBranches says that a branch of a session is hidden and, if its name has no device, that the session went on on other
// devices, too.
func (run Run) NoteBranches(ctx context.Context, rev state.Rev, name string) error {
	if rev.Session == nil || rev.Session.File == "" {
		return nil
	}
	if strings.Contains(name, "~") {
		return nil
	}
	st, err := trust.Outline(ctx, run.DB, rev.Project.ID)
	if err != nil {
		return err
	}
	for _, b := range st.Branches(rev.Session) {
		if b.ID == rev.Session.ID {
			continue
		}
		device, err := trust.DeviceName(ctx, run.DB, b.Device())
		if err != nil {
			return err
		}
		hidden := If(!b.Shown(), ", which is hidden")
		run.Note("%s also went on on %s: %s%s", records.ShortID(rev.Session.File), run.Safe(device), b.Name(), hidden)
	}
	return nil
}

// WaitingSessions returns the sessions of a project that are hidden here until a device has deleted what was forgotten of
// them.
func WaitingSessions(ctx context.Context, db *state.DB, p refs.Project) (out []Branch, err error) {
	st, err := trust.Outline(ctx, db, p)
	if err != nil || !slices.ContainsFunc(st.Purges, func(q state.StoredPurge) bool {
		return len(q.Body.Passages) > 0 && slices.ContainsFunc(st.Tips, func(t refs.Tip) bool {
			return !st.Purged.Acked[t.Device+q.Sum.String()]
		})
	}) {
		return nil, err
	}
	all, err := db.Waiting(ctx, p)
	for _, s := range all {
		if s.Parent() != "" {
			continue
		}
		device, err := trust.DeviceName(ctx, db, s.Now().Stamp.Device)
		if err != nil {
			return nil, err
		}
		out = append(out, Branch{s.ID, device})
	}
	return out, err
}

// WaitingLines returns a line for each of some sessions that wait, and one for the rest of many.
func WaitingLines(all []Branch) []string {
	return someLines(Each(all, func(w Branch) string {
		return records.ShortID(w.Session) + " waits for " + w.Device + " to sync: messages of it were forgotten"
	}), "%s also wait for a device to sync")
}
