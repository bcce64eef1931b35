package secrets

import (
	"bytes"
	"io"

	"github.com/memvcs/mem/layers/redact"
)

// A Cleaner reads raw bytes and returns redacted ones. It works on whole lines. A line longer than [redact.Window]
// is redacted in pieces, to bound the memory. Other files than transcripts are redacted several lines at a time
// ([redact.Text]).
type Cleaner struct {
	R       io.Reader
	Rules   redact.Rules
	Numbers redact.Numbers
	Room    []byte // read buffer
	buf     []byte // part of Room that is not redacted yet
	clean   []byte // redacted and not returned yet; may be in Room
	long    *redact.Long
	text    *redact.Text // nil for a transcript
	Pieces  bool         // a line was redacted in pieces
	length  int64        // of the redacted bytes so far
	Cuts    []redact.Cut
	eof     bool
	found   func(clean []byte, cuts []redact.Cut) // receives every redacted piece; offsets are in clean; may be nil
}

// NewFileCleaner returns a cleaner for a file that is not a transcript. Size is its approximate size.
func NewFileCleaner(r io.Reader, size int64, rules redact.Rules) *Cleaner {
	return &Cleaner{R: r, Rules: rules, text: &redact.Text{}, Room: make([]byte, min(max(size, 0)+1, CleanerRoom))}
}

// CleanerRoom is the buffer size of a cleaner. For a smaller input it is one byte more than the input.
const CleanerRoom = redact.Window + 1<<20

// Read returns redacted bytes.
func (c *Cleaner) Read(p []byte) (int, error) {
	if err := c.fillClean(); err != nil {
		return 0, err
	}
	n := copy(p, c.clean)
	c.clean = c.clean[n:]
	return n, nil
}

// fillClean redacts until redacted bytes are buffered. It returns [io.EOF] at the end.
func (c *Cleaner) fillClean() error {
	for len(c.clean) == 0 {
		if c.eof && len(c.buf) == 0 {
			return io.EOF
		}
		if err := c.next(); err != nil {
			return err
		}
	}
	return nil
}

// next redacts the next lines, or the next piece of a long line, if enough is buffered.
func (c *Cleaner) next() error {
	if err := c.fill(); err != nil {
		return err
	}
	if c.text != nil && c.long == nil {
		return c.lines()
	}
	end := bytes.LastIndexByte(c.buf, '\n') + 1
	if c.long != nil {
		end = bytes.IndexByte(c.buf, '\n') + 1 // end of the long line
	}
	last := end > 0
	if c.eof && !last {
		end, last = len(c.buf), true
	}
	switch {
	case c.long == nil && last:
		clean, cuts := c.Rules.Redact(c.buf[:end], &c.Numbers)
		c.took(clean, cuts, end)
	case c.long == nil && len(c.buf) < redact.Window:
	case c.long == nil:
		c.long, c.Pieces = &redact.Long{}, true
		fallthrough
	default:
		c.piece(end, last)
	}
	return nil
}

// lines redacts the next lines of a file that is not a transcript, with the buffered text after them as context.
func (c *Cleaner) lines() error {
	at := len(c.buf)
	if !c.eof {
		if len(c.buf) < redact.Window {
			return nil
		}
		at = bytes.LastIndexByte(c.buf[:len(c.buf)-redact.Ahead], '\n') + 1
		if at == 0 {
			at = bytes.IndexByte(c.buf, '\n') + 1
		}
		if at == 0 { // no newline yet
			c.long, c.Pieces, c.text = &redact.Long{}, true, &redact.Text{}
			c.piece(0, false)
			return nil
		}
	}
	clean, cuts, n := c.text.Redact(c.Rules, c.buf, at, &c.Numbers)
	c.took(clean, cuts, n)
	return nil
}

// piece redacts a piece of a long line. If it is the last one, it ends at end.
func (c *Cleaner) piece(end int, last bool) {
	if !last {
		if end = len(c.buf); end < redact.Window {
			return
		}
	}
	clean, cuts, n := c.long.Redact(c.Rules, c.buf[:end], last, &c.Numbers)
	c.took(clean, cuts, n)
	if last {
		c.long = nil
	}
}

// took records that the first n bytes of the buffer are redacted.
func (c *Cleaner) took(clean []byte, cuts []redact.Cut, n int) {
	if c.found != nil {
		c.found(clean, cuts)
	}
	c.Cuts = append(c.Cuts, redact.Shift(cuts, c.length)...)
	c.length += int64(len(clean))
	c.clean, c.buf = clean, c.buf[n:]
}

// fill reads more. It moves the rest of the buffer to the front; all redacted bytes have been returned before.
func (c *Cleaner) fill() error {
	if c.eof {
		return nil
	}
	if c.Room == nil {
		c.Room = make([]byte, CleanerRoom)
	}
	if len(c.buf) == len(c.Room) {
		c.Room = make([]byte, CleanerRoom) // the input is larger than announced
	}
	have := copy(c.Room, c.buf)
	n, err := io.ReadFull(c.R, c.Room[have:min(len(c.Room), have+1<<20)])
	c.buf = c.Room[:have+n]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		c.eof, err = true, nil
	}
	return err
}
