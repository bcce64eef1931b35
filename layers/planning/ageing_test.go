package planning

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

var policy = Policy{
	WeeklyAfter: 7, MonthlyAfter: 30, WeeklyTokens: 4000, MonthlyTokens: 8000,
	CreateAfter: 7, CreatePreset: "standard", AggressiveAfter: 30, AggressivePreset: "aggressive", IntermediateAfter: 60,
}

func at(s string) time.Time {
	t, err := time.Parse("2006-01-02 15:04", s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestPeriods(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ at, week, month string }{
		{"2026-01-01 00:00", "weekly-2026-W01", "monthly-2026-01"},
		{"2025-12-29 00:00", "weekly-2026-W01", "monthly-2025-12"},
		{"2025-12-28 23:59", "weekly-2025-W52", "monthly-2025-12"},
		{"2027-01-03 23:59", "weekly-2026-W53", "monthly-2027-01"},
		{"2027-01-04 00:00", "weekly-2027-W01", "monthly-2027-01"},
		{"2028-02-29 12:00", "weekly-2028-W09", "monthly-2028-02"},
	} {
		if got := Week(at(tt.at)).Label(); got != tt.week {
			t.Errorf("Week(%s) = %s, want %s", tt.at, got, tt.week)
		}
		if got := Month(at(tt.at)).Label(); got != tt.month {
			t.Errorf("Month(%s) = %s, want %s", tt.at, got, tt.month)
		}
	}
}

// TestPeriodsHoldTheirTimes takes any times, in any zone: each lies in its week and month, whose ends are the beginnings of
// the next ones, and whoever looks from another zone sees the same.
func TestPeriodsHoldTheirTimes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		x := time.Unix(rng.Int64N(1<<33), 0)
		zone := time.FixedZone("", 3600*(rng.IntN(27)-12))
		for _, of := range []func(time.Time) Period{Week, Month} {
			p := of(x)
			if x.Before(p.Start) || !x.Before(p.End) || of(x.In(zone)) != p {
				t.Fatalf("%v is in %v", x, p)
			}
			if next := of(p.End); next.Start != p.End || of(p.End.Add(-1)) != p {
				t.Fatalf("after %v comes %v", p, next)
			}
		}
		if w := Week(x); w.Start.Weekday() != time.Monday || w.End.Sub(w.Start) != 7*day {
			t.Fatalf("%v is no week", w)
		}
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	now := at("2026-03-20 12:00")
	for _, tt := range []struct {
		at   string
		want Age
	}{
		{"2026-03-21 00:00", Recent}, {"2026-03-20 12:00", Recent}, {"2026-03-13 12:01", Recent}, {"2026-03-13 12:00", Weekly},
		{"2026-02-18 12:01", Weekly}, {"2026-02-18 12:00", Monthly}, {"2020-01-01 00:00", Monthly},
	} {
		if got := policy.Of(at(tt.at), now); got != tt.want {
			t.Errorf("Of(%s) = %s, want %s", tt.at, got, tt.want)
		}
	}
}

func session(id, end string, versions ...Version) Session {
	return Session{ID: id, End: at(end), Accessed: at(end), Tokens: 1000, Versions: versions}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	now := at("2026-03-20 12:00")
	std := Version{ID: "v1", Preset: "standard", Current: true, Free: true}
	agg := Version{ID: "v2", Preset: "aggressive", Current: true, Free: true}
	with := func(v Version, change func(*Version)) Version { change(&v); return v }
	for _, tt := range []struct {
		name     string
		sessions []Session
		compress []string
		due      []string
		over     []string
		hide     []string
	}{
		{"yesterday", []Session{session("s", "2026-03-19 09:00")}, nil, nil, nil, nil},
		{"a week old, its week is over", []Session{session("s", "2026-03-11 09:00")}, []string{"s standard"}, []string{"weekly-2026-W11 [s]"}, nil, nil},
		{"used again", []Session{{ID: "s", End: at("2026-01-11 09:00"), Accessed: at("2026-03-19 09:00"), Tokens: 1000}}, nil, nil, nil, nil},
		{"small", []Session{{ID: "s", End: at("2026-03-11 09:00"), Accessed: at("2026-03-11 09:00"), Tokens: 100}}, nil, []string{"weekly-2026-W11 [s]"}, nil, nil},
		{"the rest of its week too", []Session{session("b", "2026-03-15 09:00", std), session("a", "2026-03-09 09:00", std)}, nil, []string{"weekly-2026-W11 [a b]"}, nil, nil},
		{"32 days old in a month that is over", []Session{session("s", "2026-02-16 09:00", std)}, []string{"s aggressive"}, []string{"monthly-2026-02 [s]"}, []string{"weekly-2026-W08"}, nil},
		{"of that week one is younger", []Session{session("a", "2026-02-16 09:00", std, agg), session("b", "2026-02-22 09:00", std)}, nil,
			[]string{"weekly-2026-W08 [a b]", "monthly-2026-02 [a b]"}, nil, nil},
		{"old, without versions", []Session{session("s", "2025-12-01 09:00")}, []string{"s standard", "s aggressive"}, []string{"monthly-2025-12 [s]"}, []string{"weekly-2025-W49"}, []string{"new standard"}},
		{"old, with both", []Session{session("s", "2025-12-01 09:00", std, agg)}, nil, []string{"monthly-2025-12 [s]"}, []string{"weekly-2025-W49"}, []string{"v1"}},
		{"hidden ones are not missed", []Session{session("s", "2025-12-01 09:00", with(std, func(v *Version) { v.Hidden = true }), agg)}, nil,
			[]string{"monthly-2025-12 [s]"}, []string{"weekly-2025-W49"}, nil},
		{"versions that are used, paid for or asked for stay", []Session{session("s", "2025-12-01 09:00", with(std, func(v *Version) { v.Used = true }), with(std, func(v *Version) { v.Free = false }), with(std, func(v *Version) { v.Asked = true }), agg)}, nil,
			[]string{"monthly-2025-12 [s]"}, []string{"weekly-2025-W49"}, nil},
		{"the wanted one stays beside the newest", []Session{session("s", "2025-12-01 09:00", std, agg, with(std, func(v *Version) { v.ID = "v3" }))}, nil,
			[]string{"monthly-2025-12 [s]"}, []string{"weekly-2025-W49"}, []string{"v1"}},
		{"of an earlier state of the session", []Session{session("s", "2026-03-11 09:00", with(std, func(v *Version) { v.Current = false }))}, []string{"s standard"},
			[]string{"weekly-2026-W11 [s]"}, nil, nil},
	} {
		w := Decide(policy, tt.sessions, now)
		var compress, due, hide []string
		for _, c := range w.Compress {
			compress = append(compress, c.Session+" "+c.Preset)
		}
		for _, d := range w.Due {
			due = append(due, fmt.Sprint(d.Label(), " ", d.Sessions))
		}
		for _, h := range w.Hide {
			hide = append(hide, h.Version)
		}
		got, want := [][]string{compress, due, w.Over, hide}, [][]string{tt.compress, tt.due, tt.over, tt.hide}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: Decide = %q, want %q", tt.name, got, want)
		}
	}
}

func TestNoRules(t *testing.T) {
	t.Parallel()
	p := Policy{WeeklyAfter: 7, MonthlyAfter: 30}
	w := Decide(p, []Session{session("s", "2020-01-01 00:00", Version{ID: "a"}, Version{ID: "b"})}, at("2026-03-20 12:00"))
	if len(w.Compress)+len(w.Hide) != 0 {
		t.Errorf("Decide with ages of 0 = %v", w)
	}
	for _, bad := range []Policy{{}, {WeeklyAfter: 7}, {WeeklyAfter: 30, MonthlyAfter: 7}} {
		if bad.Check() == nil {
			t.Errorf("Check(%+v) = nil", bad)
		}
	}
	if err := policy.Check(); err != nil {
		t.Error(err)
	}
}

// TestDecidingAgainFindsNothing does what was decided for any sessions: then there is no version to make or to hide, and the
// order of the sessions never matters.
func TestDecidingAgainFindsNothing(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	now := at("2026-03-20 12:00")
	for range 500 {
		var sessions []Session
		for i := range rng.IntN(20) {
			end := now.Add(-time.Duration(rng.IntN(120*24)) * time.Hour)
			s := Session{ID: fmt.Sprint("s", i), End: end, Accessed: end, Tokens: rng.IntN(2000)}
			for k := range rng.IntN(4) {
				s.Versions = append(s.Versions, Version{ID: fmt.Sprint(s.ID, "v", k), Preset: []string{"", "standard", "aggressive"}[rng.IntN(3)],
					Current: rng.IntN(3) > 0, Free: rng.IntN(3) > 0, Hidden: rng.IntN(3) == 0, Used: rng.IntN(3) == 0})
			}
			sessions = append(sessions, s)
		}
		w := Decide(policy, sessions, now)
		shuffled := slices.Clone(sessions)
		rng.Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
		if again := Decide(policy, shuffled, now); !reflect.DeepEqual(again, w) {
			t.Fatalf("in another order: %v, want %v", again, w)
		}
		for _, c := range w.Compress {
			for i := range sessions {
				if s := &sessions[i]; s.ID == c.Session {
					s.Versions = append(s.Versions, Version{ID: Unmade + c.Preset, Preset: c.Preset, Current: true, Free: true})
				}
			}
		}
		for _, h := range w.Hide {
			for i := range sessions {
				for k := range sessions[i].Versions {
					if v := &sessions[i].Versions[k]; sessions[i].ID == h.Session && v.ID == h.Version {
						v.Hidden = true
					}
				}
			}
		}
		if again := Decide(policy, sessions, now); len(again.Compress)+len(again.Hide) != 0 {
			t.Fatalf("after doing %v there is %v", w, again)
		}
	}
}
