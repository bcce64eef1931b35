package planning

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// An Age says how a session is represented.
type Age string

// The ages.
const (
	Recent  Age = "recent"  // by itself
	Weekly  Age = "weekly"  // by the summary of its week
	Monthly Age = "monthly" // by the summary of its month
)

// A Policy contains the ages of all actions in days. An age of 0 in the rules for versions means never.
type Policy struct {
	WeeklyAfter, MonthlyAfter   int
	WeeklyTokens, MonthlyTokens int // limits of a summary

	CreateAfter       int // a session without a version gets one
	CreatePreset      string
	AggressiveAfter   int // it gets a smaller one
	AggressivePreset  string
	IntermediateAfter int // versions between the first and the newest are hidden
}

// Check returns the errors of a policy.
func (p Policy) Check() error {
	switch {
	case p.WeeklyAfter < 1:
		return fmt.Errorf("weekly summaries after %d days: want 1 or more", p.WeeklyAfter)
	case p.MonthlyAfter < p.WeeklyAfter:
		return fmt.Errorf("monthly summaries after %d days, weekly ones after %d: want the monthly ones later",
			p.MonthlyAfter, p.WeeklyAfter)
	}
	return nil
}

const day = 24 * time.Hour

// Of returns the age of a session that was last used at t.
func (p Policy) Of(t, now time.Time) Age {
	switch age := now.Sub(t); {
	case age < time.Duration(p.WeeklyAfter)*day:
		return Recent
	case age < time.Duration(p.MonthlyAfter)*day:
		return Weekly
	}
	return Monthly
}

// past reports whether t is at least days ago; 0 days mean never.
func past(t, now time.Time, days int) bool {
	return days > 0 && now.Sub(t) >= time.Duration(days)*day
}

// A Period is a week or a month.
type Period struct {
	Age        Age
	Name       string // 2026-W03, 2026-01
	Start, End time.Time
}

// Label is the name of the summary.
func (p Period) Label() string { return string(p.Age) + "-" + p.Name }

// Week returns the ISO week of t, in UTC.
func Week(t time.Time) Period {
	t = t.UTC()
	monday := time.Date(t.Year(), t.Month(), t.Day()-(int(t.Weekday())+6)%7, 0, 0, 0, 0, time.UTC)
	year, week := t.ISOWeek()
	return Period{Weekly, fmt.Sprintf("%04d-W%02d", year, week), monday, monday.AddDate(0, 0, 7)}
}

// Month returns the month of t, in UTC.
func Month(t time.Time) Period {
	t = t.UTC()
	first := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	return Period{Monthly, first.Format("2006-01"), first, first.AddDate(0, 1, 0)}
}

// A Session is the input of [Decide] about a session.
type Session struct {
	ID       string
	End      time.Time // its last message
	Accessed time.Time // the later of End and its last use
	Tokens   int       // of its conversation, estimated
	Versions []Version // in the order of creation, hidden ones too
}

// A Version is the input of [Decide] about a version.
type Version struct {
	ID      string
	Preset  string // of its recipe, "" if it has none
	Current bool   // it covers the whole current session
	Hidden  bool
	Free    bool // it can be reproduced without a model
	Used    bool // by a composition of the user
	Asked   bool // a person requested it
}

// Work is a list of actions.
type Work struct {
	Compress []Compression
	Due      []Due    // summaries that must exist and be current
	Over     []string // labels of weekly summaries that monthly ones replace
	Hide     []Hiding
}

// A Hiding is a version to hide.
type Hiding struct{ Session, Version string }

// Unmade starts the ID of a version that does not exist yet; its preset follows.
const Unmade = "new "

// A Compression is a version to create.
type Compression struct {
	Session string
	Preset  string
	Why     string
}

// A Due is a summary of all sessions of a period.
type Due struct {
	Period
	Sessions []string // by their ends
}

// Decide returns the actions for a time.
func Decide(p Policy, sessions []Session, now time.Time) Work {
	sessions = slices.Clone(sessions)
	slices.SortFunc(sessions, func(a, b Session) int { return cmp.Or(a.End.Compare(b.End), cmp.Compare(a.ID, b.ID)) })
	var w Work
	for _, s := range sessions {
		w.hide(p, w.compress(p, s, now), now)
	}
	w.Due = append(due(p, sessions, now, Weekly), due(p, sessions, now, Monthly)...)
	w.over(p, sessions, now)
	return w
}

// small is the number of tokens below which a session needs no version.
const small = 500

// compress adds the missing versions of a session, and returns the session with them. A hidden version is not missing.
func (w *Work) compress(p Policy, s Session, now time.Time) Session {
	if s.Tokens < small {
		return s
	}
	has := func(preset string) bool {
		return slices.ContainsFunc(s.Versions, func(v Version) bool {
			return v.Current && (preset == "" || v.Preset == preset)
		})
	}
	lacking := func(days int, preset string, any bool) {
		if !past(s.Accessed, now, days) || has(preset) || any && has("") {
			return
		}
		w.Compress = append(w.Compress, Compression{s.ID, preset, fmt.Sprintf("older than %d days", days)})
		s.Versions = append(slices.Clone(s.Versions), Version{ID: Unmade + preset, Preset: preset, Current: true, Free: true})
	}
	lacking(p.CreateAfter, p.CreatePreset, true)
	lacking(p.AggressiveAfter, p.AggressivePreset, false)
	return s
}

// hide adds the superseded versions of a session. It spares the newest, the one that the policy wants, those used by
// compositions or requested by a person, and those paid for.
func (w *Work) hide(p Policy, s Session, now time.Time) {
	if !past(s.Accessed, now, p.IntermediateAfter) {
		return
	}
	var shown []Version
	for _, v := range s.Versions {
		if !v.Hidden {
			shown = append(shown, v)
		}
	}
	wanted := false
	for i, v := range slices.Backward(shown) {
		if p.AggressiveAfter > 0 && v.Current && v.Preset == p.AggressivePreset && !wanted {
			wanted = true
			continue
		}
		if i < len(shown)-1 && v.Free && !v.Used && !v.Asked {
			w.Hide = append(w.Hide, Hiding{s.ID, v.ID})
		}
	}
}

// due returns the finished periods with a session of the age.
func due(p Policy, sessions []Session, now time.Time, t Age) []Due {
	of := Week
	if t == Monthly {
		of = Month
	}
	var out []Due
	wanted := map[string]bool{}
	for _, s := range sessions {
		d := Due{Period: of(s.End)}
		if i := slices.IndexFunc(out, func(x Due) bool { return x.Name == d.Name }); i >= 0 {
			out[i].Sessions = append(out[i].Sessions, s.ID)
		} else {
			d.Sessions = []string{s.ID}
			out = append(out, d)
		}
		if p.Of(s.Accessed, now) == t && !d.End.After(now) {
			wanted[d.Name] = true
		}
	}
	return slices.DeleteFunc(out, func(d Due) bool { return !wanted[d.Name] })
}

// over adds the weeks whose sessions are all represented by due summaries of months.
func (w *Work) over(p Policy, sessions []Session, now time.Time) {
	months := map[string]bool{}
	for _, d := range w.Due {
		if d.Age == Monthly {
			months[d.Name] = true
		}
	}
	needed := map[string]bool{}
	var weeks []string
	for _, s := range sessions {
		label := Week(s.End).Label()
		if !slices.Contains(weeks, label) {
			weeks = append(weeks, label)
		}
		if p.Of(s.Accessed, now) != Monthly || !months[Month(s.End).Name] {
			needed[label] = true
		}
	}
	for _, label := range weeks {
		if !needed[label] {
			w.Over = append(w.Over, label)
		}
	}
}
