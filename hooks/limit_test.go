package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memvcs/mem/hooks/settings"
)

// TestLimitOfEvents looks at what time each hook gives itself, in ticks.
func TestLimitOfEvents(t *testing.T) {
	t.Parallel()
	for _, e := range append(settings.Events(), Work) {
		d := newDesk(t)
		d.write("aaaa1111", "Hello")
		if err := os.MkdirAll(d.store(), 0o700); err != nil {
			t.Fatal(err)
		}
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
		case settings.SessionStart:
			want = 3 * time.Second
		case Work:
			want = 5 * time.Minute
		}
		if len(limits) == 0 || limits[0]*limitTicks != want || len(within) == 0 || within[0] != want-shutdownTime {
			t.Errorf("%s ends after %d times %v, its work after %v; want %v", e, limitTicks, limits, within, want)
		}
	}
}

// TestEndAt lets hooks come to their time limit in every phase: what it is about to make durable it may finish, for a while; what it
// reads too, while something comes; everything else ends at once, and the log says so.
func TestEndAt(t *testing.T) {
	t.Parallel()
	const many = 1 + int(patience/(50*time.Millisecond))
	for _, tt := range []struct {
		phase int32
		reads int64
		then  int32 // the phase when it looks again
		more  int64 // reads that began or ended until then
		looks int   // until it ends, 0 if it goes on to its own end
	}{
		{interruptible, 2, interruptible, 0, 1}, {done, 2, done, 0, 0}, {beforeNote, 2, interruptible, 0, 2}, {beforeNote, 2, done, 0, 0}, {beforeNote, 2, beforeNote, 0, many},
		{beforeNote, 0, beforeNote, 0, many}, // it did not come to read yet
		{beforeNote, 1, beforeNote, 0, 1 + maxIdleChecks}, {beforeNote, 1, interruptible, 1, 2}, {beforeNote, 1, done, 1, 0},
		{beforeNote, 1, beforeNote, 2, many}, // it reads on
	} {
		d := newDesk(t)
		w := d.world(strings.NewReader(""), &bytes.Buffer{})
		r := &run{World: w, event: settings.Stop}
		up, looks, ended := time.Duration(0), 0, false
		var next func()
		w.Uptime = func() time.Duration { return up }
		w.After = func(d time.Duration, f func()) { up += d; next = f }
		w.Exit = func() { ended = true }
		r.phase.Store(tt.phase)
		r.reads.Store(tt.reads)
		r.endAt(patience, 0, 0)
		for looks = 1; !ended && next != nil; looks++ {
			r.phase.Store(tt.then)
			r.reads.Add(tt.more)
			f := next
			next = nil
			f()
		}
		if ended != (tt.looks > 0) || ended && looks != tt.looks || ended != strings.Contains(d.log(), "Stop - ended at the time limit") {
			t.Errorf("%+v: ended %v after %d looks; %s", tt, ended, looks, d.log())
		}
	}
}

// TestRotation lets hooks that are there at once find that a file is full: one of them puts it aside, and nothing of it is lost.
func TestRotation(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	w := d.world(strings.NewReader(""), io.Discard)
	for file, full := range map[string]struct {
		most  int64
		write func()
	}{
		LogFile(d.store()):  {logSize, func() { w.logError("Stop", "aaaa1111", errors.New("lost")) }},
		RunsFile(d.store()): {runsSize, func() { w.recordTiming(settings.Stop, time.Millisecond, false) }},
	} {
		for range 200 {
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, bytes.Repeat([]byte{'\n'}, int(full.most)+1), 0o600)); err != nil {
				t.Fatal(err)
			}
			var hooks sync.WaitGroup
			for range 8 {
				hooks.Go(full.write)
			}
			hooks.Wait()
			if fi, err := os.Stat(file + ".1"); err != nil || fi.Size() <= full.most {
				t.Fatalf("what %s had is lost: %+v, %v", filepath.Base(file), fi, err)
			}
		}
	}
}

// TestLog writes to the log for ever: it stays small, and holds neither what a session says nor a path.
func TestLog(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	w := d.world(strings.NewReader(""), io.Discard)
	w.logError("Stop", "first", errors.New("begin"))
	long := errors.New(strings.Repeat("x", 390) + "\n\x1b[31m")
	for range 3 * logSize / 400 {
		w.logError("Stop", "../../etc", long)
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
