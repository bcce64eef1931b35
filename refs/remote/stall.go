package remote

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/memvcs/mem/objects/pack"
)

// quiet is how long nothing at all may arrive, unless [World.Quiet] says otherwise. While git's servers count
// and compress they give a sign of life every five seconds; what stands before some of them keeps that back
// until it has a page of it, so the first byte may take longer.
const quiet = 10 * time.Second

// How many times that something may take.
const (
	begin  = 30 // the first sign of an answer: of a server that counts and compresses, or of a person who unlocks a key
	last   = 20 // the next part of a pack or of a list: signs of life alone, or a byte now and then, would go on for ever
	unpack = 60 // the word on what was pushed, which a server unpacks and looks through before it answers
)

// part is how much has to arrive in the time of last.
const part = 64 << 10

func (w World) quiet() time.Duration {
	if w.Quiet > 0 {
		return w.Quiet
	}
	return quiet
}

// A StalledError says that a server did not send anything for too long, or nothing that matters.
type StalledError struct{ After time.Duration }

func (e *StalledError) Error() string {
	return fmt.Sprintf("%v: nothing came for %v", ErrDropped, e.After)
}

// Unwrap returns [ErrDropped].
func (e *StalledError) Unwrap() error { return ErrDropped }

// A watch ends a conversation that has stalled. It is safe for use by several goroutines.
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

// expect lets the conversation end if nothing comes for a time.
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

// pause expects nothing until the next wait: whoever is busy with what came has not been kept waiting.
func (w *watch) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quieten()
}

// quieten stops what is expected. The lock is held.
func (w *watch) quieten() {
	if w.idle != nil {
		w.idle.Stop()
	}
	w.idle = nil
}

// steady lets it end if too little comes for a time, however lively it is.
func (w *watch) steady() {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := last * w.quiet
	w.parts, w.seen = time.AfterFunc(d, func() { w.over(d) }), 0
}

// came notes that n bytes came that matter.
func (w *watch) came(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen += n; w.seen >= part && w.parts != nil {
		w.seen = 0
		w.parts.Reset(last * w.quiet)
	}
}

// pulse tells of nothing once a second until it is stopped, so that whoever waits for a server that counts sees
// that time passes.
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

// pack watches a pack that comes, and tells progress what lim was to tell.
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

// rest waits for nothing any more.
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

// stalled returns why the conversation was ended, or else err.
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
