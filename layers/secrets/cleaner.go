package secrets

import (
	"bytes"
	"io"
	"slices"

	"github.com/memvcs/mem/layers/redact"
)

// A Cleaner reads raw bytes and returns redacted ones. It works on whole lines, those of a file that is not a transcript
// pieceSize at a time, because they belong together. A longer line is redacted in pieces ([redact.Long]), to bound the memory.
type Cleaner struct {
	R       io.Reader
	Rules   redact.Rules
	Numbers redact.Numbers
	Cuts    []redact.Cut

	file   bool        // it is not a transcript
	room   []byte      // read buffer
	buf    []byte      // the end of room, which is not redacted yet
	clean  []byte      // redacted and not returned yet; may be in room
	long   redact.Long // what was redacted before buf, of a file or a line in pieces
	length int64       // of the redacted bytes so far
	eof    bool
	found  func(clean []byte, cuts []redact.Cut) // receives every redacted piece; offsets are in clean; may be nil
}

// pieceSize is the length of the longest line that is redacted as a whole.
const pieceSize = 16 << 20

// NewFileCleaner returns a cleaner for a file that is not a transcript.
func NewFileCleaner(r io.Reader, rules redact.Rules) *Cleaner {
	return &Cleaner{R: r, Rules: rules, file: true}
}

// Read returns redacted bytes.
func (c *Cleaner) Read(p []byte) (int, error) {
	for len(c.clean) == 0 {
		if c.eof && len(c.buf) == 0 {
			return 0, io.EOF
		}
		if err := c.fill(); err != nil {
			return 0, err
		}
		if n := c.ready(); n > 0 {
			c.redact(n)
		}
	}
	n := copy(p, c.clean)
	c.clean = c.clean[n:]
	return n, nil
}

// fill reads more, up to pieceSize: 64 KB, or as much as is there already. All redacted bytes have been returned before.
func (c *Cleaner) fill() error {
	if c.eof {
		return nil
	}
	if len(c.buf) < len(c.room) {
		c.room = append(c.room[:0], c.buf...)
	}
	have := len(c.room)
	more := min(max(64<<10, have), pieceSize-have)
	c.room = slices.Grow(c.room, more)
	n, err := io.ReadFull(c.R, c.room[have:have+more])
	c.room = c.room[:have+n]
	c.buf = c.room
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		c.eof, err = true, nil
	}
	return err
}

// ready returns how many bytes of the buffer are redacted next, 0 if more must be read. The rest of the buffer is context
// for a piece.
func (c *Cleaner) ready() int {
	first, last := bytes.IndexByte(c.buf, '\n')+1, bytes.LastIndexByte(c.buf, '\n')+1
	switch full := len(c.buf) == pieceSize; {
	case c.long.Line && first > 0:
		return first
	case last > 0 && !c.file:
		return last
	case c.eof:
		return len(c.buf)
	case !full:
		return 0
	case last > 0 && !c.long.Line:
		if n := bytes.LastIndexByte(c.buf[:pieceSize-redact.Ahead], '\n') + 1; n > 0 {
			return n
		}
		return first
	case !c.long.Line:
		c.long = redact.Long{Line: true}
	}
	return pieceSize - redact.Ahead
}

// redact redacts about n bytes of the buffer.
func (c *Cleaner) redact(n int) {
	var clean []byte
	var cuts []redact.Cut
	switch ends := c.buf[n-1] == '\n'; {
	case c.long.Line && (ends || n == len(c.buf)):
		clean, cuts, n = c.long.Redact(c.Rules, c.buf[:n], n, &c.Numbers)
		c.long = redact.Long{}
	case c.file || c.long.Line:
		clean, cuts, n = c.long.Redact(c.Rules, c.buf, n, &c.Numbers)
	default:
		clean, cuts = c.Rules.Redact(c.buf[:n], &c.Numbers)
	}
	if c.found != nil {
		c.found(clean, cuts)
	}
	c.Cuts = append(c.Cuts, redact.Shift(cuts, c.length)...)
	c.length += int64(len(clean))
	c.clean, c.buf = clean, c.buf[n:]
}
