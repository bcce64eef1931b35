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
	begin  = 30 // the first byte: the server counts and compresses, or the user unlocks a key
	last   = 20 // the next part of a pack or list, because keepalives or single bytes could continue for ever
	unpack = 60 // the status report of a push, which the server unpacks and checks first
)

// part is the number of bytes that must arrive within last.
const part = 64 << 10

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

// A watch ends a stalled session. It is safe for concurrent use.
type watch struct {
	quiet time.Duration
	end   func(error)

	mu    sync.Mutex
	idle  *time.Timer // nil while nothing is expected
	parts *time.Timer // nil while no part is awaited
	seen  int64       // of the part
	cause *StalledError
}

func (w World) watch(end func(error)) *watch { return &watch{quiet: w.quiet(), end: end} }

// expect ends the session if nothing arrives within d.
func (w *watch) expect(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quieten()
	w.idle = time.AfterFunc(d, func() { w.over(d) })
}

// wait does the same for who begins to read, unless something is expected already.
func (w *watch) wait(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.idle == nil {
		w.idle = time.AfterFunc(d, func() { w.over(d) })
	}
}

// pause stops the timer until the next wait, while the received data is processed.
func (w *watch) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quieten()
}

// quieten stops the timer. The caller has locked w.
func (w *watch) quieten() {
	if w.idle != nil {
		w.idle.Stop()
	}
	w.idle = nil
}

// steady ends the session if less than a part arrives within last, whatever the keepalives.
func (w *watch) steady() {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := last * w.quiet
	w.parts, w.seen = time.AfterFunc(d, func() { w.over(d) }), 0
}

// came counts n received bytes of data.
func (w *watch) came(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen += n; w.seen >= part && w.parts != nil {
		w.seen = 0
		w.parts.Reset(last * w.quiet)
	}
}

// pulse calls told with 0 once a second until it is stopped, so that progress is shown while a server counts.
func pulse(told func(int64)) (stop func()) {
	if told == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				told(0)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// pack returns lim with a progress callback that also feeds the watch.
func (w *watch) pack(lim pack.Limits) pack.Limits {
	told := lim.Progress
	lim.Progress = func(n int64) {
		w.came(n)
		if told != nil {
			told(n)
		}
	}
	w.steady()
	return lim
}

// rest stops all timers.
func (w *watch) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quieten()
	if w.parts != nil {
		w.parts.Stop()
	}
	w.parts = nil
}

func (w *watch) over(after time.Duration) {
	w.mu.Lock()
	if w.cause == nil {
		w.cause = &StalledError{after}
	}
	cause := w.cause
	w.mu.Unlock()
	w.end(cause)
}

// stalled returns the [StalledError] if the watch has ended the session, or else err.
func (w *watch) stalled(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cause != nil && err != nil {
		return w.cause
	}
	return err
}

// A lively reader expects more within limit while it reads, but for the first read, which may have a limit of its own.
type lively struct {
	r     io.Reader
	w     *watch
	limit time.Duration
	list  bool // all that comes matters
}

func (l *lively) Read(p []byte) (int, error) {
	l.w.wait(l.limit)
	n, err := l.r.Read(p)
	l.w.pause()
	if l.list {
		l.w.came(int64(n))
	}
	if err != nil && err != io.EOF {
		err = l.w.stalled(err)
	}
	return n, err
}

// A sender is what is sent, which may take long if only some of it goes out now and then.
type sender struct {
	r io.Reader
	w *watch
}

func (s *sender) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err == nil {
		s.w.expect(begin * s.w.quiet)
	} else {
		s.w.expect(unpack * s.w.quiet)
	}
	return n, err
}
