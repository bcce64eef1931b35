package hooks

import (
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/memvcs/mem/hooks/settings"
)

// The time limits of a hook.
const (
	limit        = 500 * time.Millisecond
	limitAtStart = 3 * time.Second
	limitOfWork  = 5 * time.Minute
	shutdownTime = 60 * time.Millisecond // of the limit, reserved for an orderly end

	drainTime        = 200 * time.Millisecond  // of a hook for the notes in the spool
	drainTimeAtStart = 1200 * time.Millisecond // of SessionStart
)

// limitOf returns the time limit of the hook of an event.
func limitOf(ev settings.Event) time.Duration {
	if ev == settings.SessionStart {
		return limitAtStart
	}
	return limit
}

// limitTicks is the number of ticks in which a limit is counted. On an overloaded machine a hook may get no processor
// for seconds; the tick that comes late then still counts as one.
const limitTicks = 10

// patience is how much longer than its limit a hook may take to make its note durable: exit status 0 promises that
// the note is not lost. Claude Code has a limit of its own, and treats a hook that it ends as failed.
const patience = 5 * time.Minute

// maxIdleChecks is how often endAt checks again whether input arrives. The input may be there and only the processor
// missing.
const maxIdleChecks = 10

// watch ends the run after a number of ticks.
func (r *run) watch(each time.Duration, ticks int) {
	r.After(each, func() {
		if ticks > 1 {
			r.watch(each, ticks-1)
			return
		}
		r.endAt(r.Uptime()+patience, 0, 0)
	})
}

// endAt ends the process at once if the run can be cut. Otherwise it checks again until the run can be cut, no input
// arrived during maxIdleChecks checks, or the time last has come. Reads and checks are those of the previous call.
func (r *run) endAt(last time.Duration, reads int64, checks int) {
	phase, now := r.phase.Load(), r.reads.Load()
	if phase == done {
		return
	}
	if now != reads {
		checks = 0
	}
	if silent := now%2 == 1 && checks == maxIdleChecks; phase == beforeNote && !silent && r.Uptime() < last {
		r.After(50*time.Millisecond, func() { r.endAt(last, now, checks+1) })
		return
	}
	r.logError(string(r.event), "", errors.New("ended at the time limit"))
	r.recordTiming(r.event, r.Uptime(), true)
	r.Exit()
}

// countingReader counts the beginnings and ends of reads.
type countingReader struct {
	in    io.Reader
	reads *atomic.Int64
}

func (w *countingReader) Read(p []byte) (int, error) {
	w.reads.Add(1)
	defer w.reads.Add(1)
	return w.in.Read(p)
}
