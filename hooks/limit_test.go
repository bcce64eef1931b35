package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// TestLimitOfEvents looks at what time each hook gives itself, in ticks.
func TestLimitOfEvents(t *testing.T) {
	t.Parallel()
	for _, e := range append(Events(), Work) {
		d := newDesk(t)
		d.write("aaaa1111", "Hello")
		w := d.world(strings.NewReader(fmt.Sprintf(`{"session_id":"aaaa1111","cwd":%q,"transcript_path":"/x"}`, d.cwd)), io.Discard)
		var limits []time.Duration
		w.After = func(d time.Duration, _ func()) { limits = append(limits, d) }
		within := []time.Duration{}
		w.Within = func(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			within = append(within, d)
			return context.WithCancel(ctx)
		}
		Run(w, string(e))
		want := 500 * time.Millisecond
		switch e {
		case SessionStart:
			want = 3 * time.Second
		case Work:
			want = 5 * time.Minute
		}
		if len(limits) == 0 || limits[0]*limitTicks != want || len(within) == 0 || within[0] != want-orderly {
			t.Errorf("%s ends after %d times %v, its work after %v; want %v", e, limitTicks, limits, within, want)
		}
	}
}

// TestEndAt lets hooks come to their time limit in every phase: what it is about to make durable it may finish, for a while; what it
// reads is given one more moment; everything else ends at once, and the log says so.
func TestEndAt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		phase int32
		then  int32 // the phase when it looks again
		looks int   // until it ends, 0 if it goes on to its own end
	}{
		{free, free, 1}, {over, over, 0}, {reading, reading, 2}, {reading, free, 2}, {reading, over, 0}, {noting, free, 2}, {noting, over, 0},
		{noting, noting, 1 + int(patience/(50*time.Millisecond))},
	} {
		d := newDesk(t)
		w := d.world(strings.NewReader(""), &bytes.Buffer{})
		r := &run{World: w, event: Stop}
		up, looks, ended := time.Duration(0), 0, false
		var next func()
		w.Uptime = func() time.Duration { return up }
		w.After = func(d time.Duration, f func()) { up += d; next = f }
		w.Exit = func() { ended = true }
		r.phase.Store(tt.phase)
		r.endAt(patience, false)
		for looks = 1; !ended && next != nil; looks++ {
			r.phase.Store(tt.then)
			f := next
			next = nil
			f()
		}
		if ended != (tt.looks > 0) || ended && looks != tt.looks || ended != strings.Contains(d.log(), "Stop - ended at the time limit") {
			t.Errorf("from %d to %d: ended %v after %d looks, want %d; %s", tt.phase, tt.then, ended, looks, tt.looks, d.log())
		}
	}
}

// TestLog writes to the log for ever: it stays small, and holds neither what a session says nor a path.
func TestLog(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	w := d.world(strings.NewReader(""), io.Discard)
	w.note("Stop", "first", errors.New("begin"))
	long := errors.New(strings.Repeat("x", 390) + "\n\x1b[31m")
	for range 3 * logSize / 400 {
		w.note("Stop", "../../etc", long)
	}
	all := d.log()
	if len(all) == 0 || len(all) > logSize+500 || strings.Contains(all, "etc") || strings.Contains(all, "\x1b") || strings.Contains(all, "begin") {
		t.Errorf("the log has %d bytes: %.100q", len(all), all)
	}
	for line := range strings.Lines(all) {
		if !strings.HasPrefix(line, "2026-01-20T14:00:00Z Stop - xxx") || len(line) > 460 {
			t.Fatalf("line %q", line)
		}
	}
}
