package layers

import (
	"bytes"
	"io"

	"github.com/memvcs/mem/layers/redact"
)

// A cleaner reads raw bytes and hands out clean ones. It works on whole lines.
type cleaner struct {
	r       io.Reader
	rules   redact.Rules
	numbers redact.Numbers
	raw     []byte // read, not cleaned yet
	clean   []byte // cleaned, not handed out yet
	length  int64  // of the clean bytes so far
	cuts    []redact.Cut
	eof     bool
}

// Read returns clean bytes.
func (c *cleaner) Read(p []byte) (int, error) {
	for len(c.clean) == 0 {
		if c.eof {
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

func (c *cleaner) next() error {
	buf := make([]byte, 1<<20)
	n, err := io.ReadFull(c.r, buf)
	c.raw = append(c.raw, buf[:n]...)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		c.eof = true
	case err != nil:
		return err
	}
	end := bytes.LastIndexByte(c.raw, '\n') + 1
	if c.eof {
		end = len(c.raw)
	}
	clean, cuts := c.rules.Redact(c.raw[:end], &c.numbers)
	c.cuts = append(c.cuts, redact.Shift(cuts, c.length)...)
	c.length += int64(len(clean))
	c.clean, c.raw = bytes.Clone(clean), bytes.Clone(c.raw[end:])
	return nil
}
