package state_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

func day(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC) }

// usedState is a project with sessions s1 to s4, s1 the oldest, and some uses.
func usedState(uses ...state.StoredUse) *state.State {
	st := state.NewState("0123456789abcdef")
	for i, id := range []string{"s1", "s2", "s3", "s4"} {
		p := records.Point{Stamp: records.Stamp{Lamport: uint64(i + 1), Device: "d"}}
		p.Session, p.Scan.Last = id, day(i+1)
		st.Files = append(st.Files, &state.Session{ID: id, Points: []records.Point{p}})
	}
	st.Uses = uses
	st.Finish("")
	return st
}

func use(n uint64, by string, at time.Time, targets ...string) state.StoredUse {
	return state.StoredUse{Use: records.Use{By: by, At: at, Targets: targets}, Stamp: records.Stamp{Lamport: n, Device: "d"}}
}

func TestDistanceCountsFromTheLastUse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		uses []state.StoredUse
		want []int // distances of s1 to s4
	}{
		{"nothing used", nil, []int{4, 3, 2, 1}},
		{"the oldest, by the newest", []state.StoredUse{use(9, "s4", day(4), "session/s1")}, []int{2, 4, 3, 1}},
		{"before its own end", []state.StoredUse{use(9, "s1", day(1), "session/s3")}, []int{4, 3, 2, 1}},
		{"twice, the later counts", []state.StoredUse{use(8, "s4", day(6), "session/s2"), use(9, "s3", day(5), "session/s2")}, []int{4, 1, 3, 2}},
		{"what is not there", []state.StoredUse{use(9, "s4", day(6), "session/gone", "composition/gone")}, []int{4, 3, 2, 1}},
		{"several at once keep their order", []state.StoredUse{use(9, "s4", day(5), "session/s1", "session/s2")}, []int{2, 1, 4, 3}},
	} {
		st := usedState(tt.uses...)
		var got []int
		for _, s := range st.Sessions {
			got = append(got, st.Distance(s))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: distances %v, want %v", tt.name, got, tt.want)
		}
		var names []string
		for _, s := range st.Recent() {
			names = append(names, s.ID)
		}
		if !slices.Equal(names, []string{"s4", "s3", "s2", "s1"}) {
			t.Errorf("%s: names go by %v, want by the last messages", tt.name, names)
		}
	}
}

// TestUsesInAnyOrder folds the same uses in many orders.
func TestUsesInAnyOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	var uses []state.StoredUse
	for i := range uint64(12) {
		uses = append(uses, use(i+1, []string{"s2", "s3", "s4"}[rng.IntN(3)], day(1+rng.IntN(20)), []string{"session/s1", "session/s2", "session/s3"}[rng.IntN(3)]))
	}
	want := usedState(uses...)
	for range 50 {
		shuffled := slices.Clone(uses)
		rng.Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
		got := usedState(shuffled...)
		for i, s := range got.Sessions {
			if w := want.Sessions[i]; !reflect.DeepEqual(s.Used, w.Used) || got.Distance(s) != want.Distance(w) || want.Distance(s) != want.Distance(w) {
				t.Fatalf("%s: used %v at distance %d, want %v at %d", s.ID, s.Used, got.Distance(s), w.Used, want.Distance(w))
			}
		}
	}
}

// TestSecondUseIsNotNoted records the same use twice.
func TestSecondUseIsNotNoted(t *testing.T) {
	t.Parallel()
	u := use(9, "s4", day(6), "session/s1", "session/s2")
	st := usedState(u)
	for _, tt := range []struct {
		use  records.Use
		want bool
	}{
		{u.Use, true},
		{records.Use{By: "s4", At: day(9), Targets: []string{"session/s2"}}, true},
		{records.Use{By: "s3", At: day(6), Targets: []string{"session/s1"}}, false},
		{records.Use{By: "s4", At: day(6), Targets: []string{"session/s1", "session/s3"}}, false},
	} {
		if got := st.Used(tt.use); got != tt.want {
			t.Errorf("used(%v) = %v, want %v", tt.use, got, tt.want)
		}
	}
}
