package remote

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/memvcs/mem/objects/pack"
)

// quiet is the default of [World.Quiet]. While git's servers count and compress, they send a keepalive every five
// seconds. Proxies may buffer these, so the first byte may take longer.
const quiet = 10 * time.Second

// Multiples of quiet for single steps.
const (
	firstByteFactor = 30 // the first byte: the server counts and compresses, or the user unlocks a key
	partFactor      = 20 // the next part of a pack or list, because keepalives or single bytes could continue for ever
	reportFactor    = 60 // the status report of a push, which the server unpacks and checks first
)

// partSize is the number of bytes that must arrive within partFactor times quiet.
const partSize = 64 << 10

func (w World) quiet() time.Duration {
	if w.Quiet > 0 {
		return w.Quiet
	}
	return quiet
}

// A StalledError means that a server has sent no data, or only keepalives, for too long.
type StalledError struct{ After time.Duration }

func (e *StalledError) Error() string {
	return fmt.Sprintf("%v: nothing came for %v", ErrDropped, e.After)
}

// Unwrap returns [ErrDropped].
func (e *StalledError) Unwrap() error { return ErrDropped }

// A stallTimer ends a stalled session. It is safe for concurrent use.
type stallTimer struct {
	quiet time.Duration
	end   func(error)

	mu             sync.Mutex
	idle           *time.Timer // nil while nothing is expected
	parts          *time.Timer // nil while no part is awaited
	receivedOfPart int64       // of the part
	cause          *StalledError
}

func (w World) stallTimer(end func(error)) *stallTimer {
	return &stallTimer{quiet: w.quiet(), end: end}
}

// expect ends the session if nothing arrives within d.
func (w *stallTimer) expect(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopIdle()
	w.idle = time.AfterFunc(d, func() { w.expire(d) })
}

// wait is expect, unless the timer is running already.
func (w *stallTimer) wait(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.idle == nil {
		w.idle = time.AfterFunc(d, func() { w.expire(d) })
	}
}

// pause stops the timer until the next wait, while the received data is processed.
func (w *stallTimer) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopIdle()
}

// stopIdle stops the timer. The caller has locked w.
func (w *stallTimer) stopIdle() {
	if w.idle != nil {
		w.idle.Stop()
	}
	w.idle = nil
}

// expectParts ends the session if less than partSize arrives within partFactor times quiet, so keepalives do not help.
func (w *stallTimer) expectParts() {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := partFactor * w.quiet
	w.parts, w.receivedOfPart = time.AfterFunc(d, func() { w.expire(d) }), 0
}

// received counts n received bytes of data.
func (w *stallTimer) received(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.receivedOfPart += n; w.receivedOfPart >= partSize && w.parts != nil {
		w.receivedOfPart = 0
		w.parts.Reset(partFactor * w.quiet)
	}
}

// tick calls progress with 0 once a second until it is stopped, so that progress is shown while a server counts.
func tick(progress func(int64)) (stop func()) {
	if progress == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				progress(0)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// limits returns lim with a progress callback that also counts the received bytes.
func (w *stallTimer) limits(lim pack.Limits) pack.Limits {
	progress := lim.Progress
	lim.Progress = func(n int64) {
		w.received(n)
		if progress != nil {
			progress(n)
		}
	}
	w.expectParts()
	return lim
}

// stop stops all timers.
func (w *stallTimer) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopIdle()
	if w.parts != nil {
		w.parts.Stop()
	}
	w.parts = nil
}

func (w *stallTimer) expire(after time.Duration) {
	w.mu.Lock()
	if w.cause == nil {
		w.cause = &StalledError{after}
	}
	cause := w.cause
	w.mu.Unlock()
	w.end(cause)
}

// stalled returns the [StalledError] if the timer has ended the session, else err.
func (w *stallTimer) stalled(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cause != nil && err != nil {
		return w.cause
	}
	return err
}

// A stallReader expects data within limit during each read. The caller may start the timer of the first read with
// another limit.
type stallReader struct {
	r        io.Reader
	w        *stallTimer
	limit    time.Duration
	countAll bool // count every received byte, not only packs
}

func (l *stallReader) Read(p []byte) (int, error) {
	l.w.wait(l.limit)
	n, err := l.r.Read(p)
	l.w.pause()
	if l.countAll {
		l.w.received(int64(n))
	}
	if err != nil && err != io.EOF {
		err = l.w.stalled(err)
	}
	return n, err
}

// A requestBody restarts the timer with each read, because a slow upload is not a stall.
type requestBody struct {
	r io.Reader
	w *stallTimer
}

func (s *requestBody) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err == nil {
		s.w.expect(firstByteFactor * s.w.quiet)
	} else {
		s.w.expect(reportFactor * s.w.quiet)
	}
	return n, err
}
