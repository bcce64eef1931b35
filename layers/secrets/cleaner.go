package secrets

import (
	"bytes"
	"io"

	"github.com/memvcs/mem/layers/redact"
)

// A cleaner reads raw bytes and hands out clean ones. It works on whole lines; a line that is longer than
// [redact.Window] is cleaned piece by piece, so that its memory is bounded. Of a file that is no transcript it
// takes lines together ([redact.Text]).
type Cleaner struct {
	R       io.Reader
	Rules   redact.Rules
	Numbers redact.Numbers
	Room    []byte // what is read into
	buf     []byte // the part of room that is not cleaned yet
	clean   []byte // cleaned, not handed out yet; may be a part of room
	long    *redact.Long
	text    *redact.Text // nil for a transcript
	Pieces  bool         // a line was cleaned piece by piece
	length  int64        // of the clean bytes so far
	Cuts    []redact.Cut
	eof     bool
	found   func(clean []byte, cuts []redact.Cut) // told of every piece that was cleaned, if set; offsets are in clean
}

// NewFileCleaner returns a cleaner of a file that is no transcript, of about the given size.
func NewFileCleaner(r io.Reader, size int64, rules redact.Rules) *Cleaner {
	return &Cleaner{R: r, Rules: rules, text: &redact.Text{}, Room: make([]byte, min(max(size, 0)+1, CleanerRoom))}
}

// CleanerRoom is the memory that a cleaner needs, unless there is less to read: then one byte more than that.
const CleanerRoom = redact.Window + 1<<20

// Read returns clean bytes.
func (c *Cleaner) Read(p []byte) (int, error) {
	for len(c.clean) == 0 {
		if c.eof && len(c.buf) == 0 {
			return 0, io.EOF
		}
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.clean)
	c.clean = c.clean[n:]
	return n, nil
}

// next cleans the next lines, or the next piece of a long one, if enough has been read.
func (c *Cleaner) next() error {
	if err := c.fill(); err != nil {
		return err
	}
	if c.text != nil && c.long == nil {
		return c.lines()
	}
	end := bytes.LastIndexByte(c.buf, '\n') + 1
	if c.long != nil {
		end = bytes.IndexByte(c.buf, '\n') + 1 // of the long line
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

// lines cleans the next lines of a file that is no transcript, with what was read of what follows them.
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
		if at == 0 { // no end of the line in sight
			c.long, c.Pieces, c.text = &redact.Long{}, true, &redact.Text{}
			c.piece(0, false)
			return nil
		}
	}
	clean, cuts, n := c.text.Redact(c.Rules, c.buf, at, &c.Numbers)
	c.took(clean, cuts, n)
	return nil
}

// piece cleans a piece of a long line that ends at end, if it is the last one.
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

// took notes that the first n bytes of the buffer were cleaned.
func (c *Cleaner) took(clean []byte, cuts []redact.Cut, n int) {
	if c.found != nil {
		c.found(clean, cuts)
	}
	c.Cuts = append(c.Cuts, redact.Shift(cuts, c.length)...)
	c.length += int64(len(clean))
	c.clean, c.buf = clean, c.buf[n:]
}

// fill reads on. What is in the buffer is moved to its front; all that was cleaned has been handed out.
func (c *Cleaner) fill() error {
	if c.eof {
		return nil
	}
	if c.Room == nil {
		c.Room = make([]byte, CleanerRoom)
	}
	if len(c.buf) == len(c.Room) {
		c.Room = make([]byte, CleanerRoom) // there is more than was said
	}
	have := copy(c.Room, c.buf)
	n, err := io.ReadFull(c.R, c.Room[have:min(len(c.Room), have+1<<20)])
	c.buf = c.Room[:have+n]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		c.eof, err = true, nil
	}
	return err
}
