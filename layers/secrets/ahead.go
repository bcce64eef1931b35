package secrets

import "io"

const (
	aheadRead    = 256 << 10 // bytes of input that are redacted at a time
	aheadBuffers = 3         // redacted pieces in memory: one being read, one waiting, one being redacted
)

// An Ahead runs a [Cleaner] in a goroutine, so that redaction goes on while its result is stored. Close must be
// called before the fields of the cleaner are read. Read and Close are not safe for concurrent use.
type Ahead struct {
	full chan piece
	free chan []byte   // buffers that have been read
	stop chan struct{} // closed by Close
	last piece
	rest []byte // of last, not returned yet
}

// A piece is the result of one step of a cleaner: redacted bytes, or the error that ends the input.
type piece struct {
	clean []byte
	err   error
}

// Ahead starts a goroutine that redacts the input of c.
func (c *Cleaner) Ahead() *Ahead {
	a := &Ahead{full: make(chan piece, 1), free: make(chan []byte, aheadBuffers), stop: make(chan struct{})}
	for range aheadBuffers {
		a.free <- nil
	}
	c.step = aheadRead
	go a.run(c)
	return a
}

// run sends the redacted bytes of c until it ends or a is closed. It closes the channel of pieces at its end.
func (a *Ahead) run(c *Cleaner) {
	defer close(a.full)
	for {
		var buf []byte
		select {
		case buf = <-a.free:
		case <-a.stop:
			return
		}
		p := piece{err: c.fillClean()}
		p.clean = append(buf[:0], c.clean...)
		c.clean = nil
		select {
		case a.full <- p:
		case <-a.stop:
			return
		}
		if p.err != nil {
			return
		}
	}
}

// Read returns redacted bytes.
func (a *Ahead) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.last.err != nil {
			return 0, a.last.err
		}
		if a.last.clean != nil {
			a.free <- a.last.clean
		}
		next, ok := <-a.full
		if !ok {
			return 0, io.ErrClosedPipe
		}
		a.last, a.rest = next, next.clean
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// Close stops the goroutine and waits for its end. It may be called again.
func (a *Ahead) Close() {
	select {
	case <-a.stop:
	default:
		close(a.stop)
	}
	for range a.full {
	}
}
