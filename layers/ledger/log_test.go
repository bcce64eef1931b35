package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/ledger"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// someLog returns a log of n entries; with a wrong clock their times do not follow their order.
func someLog(rng *rand.Rand, p refs.Project, n int, wrong bool) []refs.Entry {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var out []refs.Entry
	for i := range n {
		e := refs.Entry{Project: p, Commit: fmt.Sprintf("%s-%d", p, i), Device: "d1", Name: "desk", Lamport: uint64(n - i), Subject: fmt.Sprint("did ", rng.IntN(9)), Time: at}
		if i < n-1 {
			e.Parent = fmt.Sprintf("%s-%d", p, i+1)
		}
		for k := range rng.IntN(4) {
			e.Trailers = append(e.Trailers, fmt.Sprintf("Mem-%d: %d", k, rng.IntN(20)))
		}
		if rng.IntN(20) == 0 {
			e.Time = e.Time.In(time.FixedZone("", 3600))
		}
		at = at.Add(-time.Duration(rng.IntN(3)) * time.Second) // some at the same time
		if wrong && rng.IntN(3) == 0 {
			at = at.Add(time.Duration(rng.IntN(9)) * time.Second)
		}
		out = append(out, e)
	}
	return out
}

// told are entries as they were when a log was gone through, trailers and all.
func told(e *refs.Entry) string {
	return fmt.Sprintf("%s %s %s %s %s %s %d %s %q", e.Project, e.Commit, e.Parent, e.Device, e.Name, e.Time, e.Lamport, e.Subject, e.Trailers)
}

// TestLogsTogether compares logs that are gone through together, from the cache and decoded, with their entries sorted.
func TestLogsTogether(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	for round := range 300 {
		newestN := rng.IntN(2) * (1 + rng.IntN(30))
		var all []refs.Entry
		var logs []*ledger.Cursor
		for i := range 1 + rng.IntN(4) {
			p := refs.Project(fmt.Sprint("p", i))
			entries := someLog(rng, p, rng.IntN(40), round%2 == 0)
			l := &ledger.Ledger{Format: ledger.LedgerVersion, Entries: entries}
			if rng.IntN(4) > 0 {
				l = &ledger.Ledger{}
				if !l.Read(string(state.Encode((&ledger.Ledger{Format: ledger.LedgerVersion, Entries: entries}).Code))) {
					t.Fatal("cannot read what was written")
				}
				if got := l.Newest(p, 0); !slices.EqualFunc(got, entries, func(a, b refs.Entry) bool { return told(&a) == told(&b) }) {
					t.Fatalf("wrote %v, read %v", entries, got)
				}
			}
			all = append(all, ledger.Newest(entries, newestN)...)
			k := l.By(p, newestN, true)
			k.Place = i
			logs = append(logs, k)
		}
		slices.SortStableFunc(all, func(a, b refs.Entry) int { return b.Time.Compare(a.Time) })
		var want, got []string
		for i := range all {
			want = append(want, told(&all[i]))
		}
		for e := range ledger.Together(logs) {
			got = append(got, told(e))
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d: together\n%q\nwant\n%q", round, got, want)
		}
	}
}

// TestOneLogKeepsItsOrder: the order of a lane is that of its commits, whatever the clock said.
func TestOneLogKeepsItsOrder(t *testing.T) {
	t.Parallel()
	entries := someLog(rand.New(rand.NewPCG(1, 2)), "p", 50, true)
	l := &ledger.Ledger{}
	if !l.Read(string(state.Encode((&ledger.Ledger{Format: ledger.LedgerVersion, Entries: entries}).Code))) || l.Falls {
		t.Fatalf("read a log of a wrong clock: falls = %v", l.Falls)
	}
	i := 0
	for e := range ledger.Together([]*ledger.Cursor{l.By("p", 0, false)}) {
		if told(e) != told(&entries[i]) {
			t.Fatalf("entry %d is %s, want %s", i, told(e), told(&entries[i]))
		}
		i++
	}
	if i != len(entries) {
		t.Errorf("%d entries, want %d", i, len(entries))
	}
}

// TestGoingThroughALogTakesNoMemory: nothing is kept of an entry, so that a log of any length takes little.
func TestGoingThroughALogTakesNoMemory(t *testing.T) {
	l := &ledger.Ledger{}
	if !l.Read(string(state.Encode((&ledger.Ledger{Format: ledger.LedgerVersion, Entries: someLog(rand.New(rand.NewPCG(1, 2)), "p", 2000, false)}).Code))) {
		t.Fatal("cannot read what was written")
	}
	got := testing.AllocsPerRun(5, func() {
		for range ledger.Together([]*ledger.Cursor{l.By("p", 0, true)}) {
		}
	})
	if got > 200 { // times that are not UTC, of which there is one in twenty
		t.Errorf("going through 2000 entries allocates %.0f times, want 200 at most", got)
	}
}
