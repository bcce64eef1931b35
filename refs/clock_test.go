package refs

import (
	"testing"
	"time"

	"github.com/memvcs/mem/refs/lane"
)

// TestLamportBound shows that what a device may write is taken by every store whose clock is not a day behind, at any
// time.
func TestLamportBound(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2020-01-02T00:00:00Z", "2026-01-15T10:00:00Z", "2299-01-01T00:00:00Z"} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		ahead := &Repo{opts: Options{Now: func() time.Time { return now.Add(23 * time.Hour) }}}
		behind := &Repo{opts: Options{Now: func() time.Time { return now }}}
		n := lane.LamportBound(now.Add(23*time.Hour - lane.ClockSlack)) // the latest that the one ahead follows
		if !ahead.mayFollow(n) || ahead.mayFollow(n+1) {
			t.Errorf("%s: %d is not the latest", at, n)
		}
		if !behind.AcceptsLamport(n+1_000_000) && now.After(lane.LamportStart().AddDate(0, 0, 2)) {
			t.Errorf("%s: a store that is 23 h behind refuses %d", at, n)
		}
		if n < lane.LamportMargin || behind.AcceptsLamport(lane.MaxLamport) || behind.AcceptsLamport(1<<62) {
			t.Errorf("%s: bound %d", at, n)
		}
	}
}
