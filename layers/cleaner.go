package layers

import (
	"bytes"
	"io"

	"github.com/memvcs/mem/layers/redact"
)

// A cleaner reads raw bytes and hands out clean ones. It works on whole lines; a line that is longer than
// [redact.Window] is cleaned piece by piece, so that its memory is bounded. Of a file that is no transcript it takes lines
// together ([redact.Text]).
type cleaner struct {
	r       io.Reader
	rules   redact.Rules
	numbers redact.Numbers
	room    []byte // what is read into
	buf     []byte // the part of room that is not cleaned yet
	clean   []byte // cleaned, not handed out yet; may be a part of room
	long    *redact.Long
	text    *redact.Text // nil for a transcript
	pieces  bool         // a line was cleaned piece by piece
	length  int64        // of the clean bytes so far
	cuts    []redact.Cut
	eof     bool
	found   func(clean []byte, cuts []redact.Cut) // told of every piece that was cleaned, if set; offsets are in clean
}

// newFileCleaner returns a cleaner of a file that is no transcript, of about the given size.
func newFileCleaner(r io.Reader, size int64, rules redact.Rules) *cleaner {
	return &cleaner{r: r, rules: rules, text: &redact.Text{}, room: make([]byte, min(max(size, 0)+1, cleanerRoom))}
}

// cleanerRoom is the memory that a cleaner needs, unless there is less to read: then one byte more than that.
const cleanerRoom = redact.Window + 1<<20

// Read returns clean bytes.
func (c *cleaner) Read(p []byte) (int, error) {
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
func (c *cleaner) next() error {
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
		clean, cuts := c.rules.Redact(c.buf[:end], &c.numbers)
		c.took(clean, cuts, end)
	case c.long == nil && len(c.buf) < redact.Window:
	case c.long == nil:
		c.long, c.pieces = &redact.Long{}, true
		fallthrough
	default:
		c.piece(end, last)
	}
	return nil
}

// lines cleans the next lines of a file that is no transcript, with what was read of what follows them.
func (c *cleaner) lines() error {
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
			c.long, c.pieces, c.text = &redact.Long{}, true, &redact.Text{}
			c.piece(0, false)
			return nil
		}
	}
	clean, cuts, n := c.text.Redact(c.rules, c.buf, at, &c.numbers)
	c.took(clean, cuts, n)
	return nil
}

// piece cleans a piece of a long line that ends at end, if it is the last one.
func (c *cleaner) piece(end int, last bool) {
	if !last {
		if end = len(c.buf); end < redact.Window {
			return
		}
	}
	clean, cuts, n := c.long.Redact(c.rules, c.buf[:end], last, &c.numbers)
	c.took(clean, cuts, n)
	if last {
		c.long = nil
	}
}

// took notes that the first n bytes of the buffer were cleaned.
func (c *cleaner) took(clean []byte, cuts []redact.Cut, n int) {
	if c.found != nil {
		c.found(clean, cuts)
	}
	c.cuts = append(c.cuts, redact.Shift(cuts, c.length)...)
	c.length += int64(len(clean))
	c.clean, c.buf = clean, c.buf[n:]
}

// fill reads on. What is in the buffer is moved to its front; all that was cleaned has been handed out.
func (c *cleaner) fill() error {
	if c.eof {
		return nil
	}
	if c.room == nil {
		c.room = make([]byte, cleanerRoom)
	}
	if len(c.buf) == len(c.room) {
		c.room = make([]byte, cleanerRoom) // there is more than was said
	}
	have := copy(c.room, c.buf)
	n, err := io.ReadFull(c.r, c.room[have:min(len(c.room), have+1<<20)])
	c.buf = c.room[:have+n]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		c.eof, err = true, nil
	}
	return err
}
