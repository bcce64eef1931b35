package app_test

import (
	"strings"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	var now time.Duration
	w.Env.Uptime = func() time.Duration { return now }
	p := w.Env.ProgressBytes("reading \x1b[31mx", 100e6)
	for range 4 {
		p.Add(10e6)
		now += 100 * time.Millisecond
	}
	if w.err.Len() > 0 {
		t.Errorf("drawn before half a second: %q", w.err.String())
	}
	now = time.Second
	p.Add(10e6)
	p.Add(1) // too soon to draw again
	want := "\rreading x  50.0 MB of 100.0 MB  [==========          ]  50%\x1b[K"
	if got := w.err.String(); !strings.HasPrefix(got, "\rreading x  50.0 MB of 100.0 MB  [==========          ]") || strings.Count(got, "\r") != 1 {
		t.Errorf("drew %q, want about %q", got, want)
	}
	p.End()
	if !strings.HasSuffix(w.err.String(), "\r\x1b[K") {
		t.Errorf("left on the screen: %q", w.err.String())
	}
	w.err.Reset()
	p.Add(1)
	if w.err.Len() > 0 {
		t.Errorf("drawn after the end: %q", w.err.String())
	}
	w.err.Reset()
	now = 0
	p = w.Env.ProgressBytes("fetching", 0)
	p.Idle = "waiting for the remote"
	now = 8 * time.Second
	p.Add(0)
	if got, want := w.err.String(), "\rfetching  waiting for the remote  0:08\x1b[K"; got != want {
		t.Errorf("drew %q, want %q", got, want)
	}
	for _, quiet := range []func(*world){
		func(w *world) { w.Env.Term.Stderr = false },
		func(w *world) { w.Env.Opt.Quiet = true },
		func(w *world) { w.Env.Opt.JSON = true },
		func(w *world) { w.vars["ACCESSIBLE"] = "1" },
	} {
		w := newWorld(t, true)
		quiet(w)
		p := w.Env.Progress("x", 3)
		p.Add(1)
		p.End()
		if p != nil || w.err.Len() > 0 {
			t.Errorf("progress where there should be none: %q", w.err.String())
		}
	}
}
