package pack

import (
	"crypto/sha1"
	"fmt"
	"hash"
	"io"
)

// A feed reads a stream of unknown quality through a buffer, remembers the bytes since a mark, and gives a decompressor
// exactly what it asks for.
type feed struct {
	r        io.Reader
	limit    int64
	buf      []byte // read and not given up yet
	pos      int    // up to where it was consumed
	start    int    // the mark
	base     int64  // of buf[0] in the stream
	sum      hash.Hash
	sumTo    int // up to where buf went into sum
	err      error
	progress func(int64)
	spill    io.Writer // if not nil it gets what lies between the mark and the place in hand, instead of memory
}

const feedSize = 256 << 10

func newFeed(r io.Reader, limit int64, told func(int64)) *feed {
	return &feed{r: r, limit: limit, progress: told, sum: sha1.New(), buf: make([]byte, 0, feedSize)}
}

// offset returns the number of consumed bytes.
func (f *feed) offset() int64 { return f.base + int64(f.pos) }

// mark sets the start of [feed.marked] to the current position, and releases the bytes before it.
func (f *feed) mark() { f.start = f.pos }

// marked returns the bytes consumed since the mark. They are valid until the next read.
func (f *feed) marked() []byte { return f.buf[f.start:f.pos] }

// spillMarked hands on what was consumed since the mark, and moves the mark.
func (f *feed) spillMarked() error {
	_, err := f.spill.Write(f.marked())
	f.mark()
	return err
}

// fill makes at least n unconsumed bytes available, if the stream has them.
func (f *feed) fill(n int) error {
	for len(f.buf)-f.pos < n && f.err == nil {
		if f.makeRoom(); f.err != nil {
			return f.err
		}
		m, err := f.r.Read(f.buf[len(f.buf):cap(f.buf)])
		f.buf = f.buf[:len(f.buf)+m]
		f.err = err
		if f.progress != nil {
			f.progress(int64(m))
		}
		if f.base+int64(len(f.buf)) > f.limit {
			f.err = fmt.Errorf("more than %d bytes: %w", f.limit, ErrTooLarge)
			return f.err
		}
	}
	if len(f.buf)-f.pos >= n {
		return nil
	}
	if f.err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return f.err
}

// makeRoom drops what lies before the mark, and grows the buffer if that is not enough.
func (f *feed) makeRoom() {
	if len(f.buf) < cap(f.buf) {
		return
	}
	f.flushSum()
	if f.spill != nil {
		if err := f.spillMarked(); err != nil {
			f.err = err
			return
		}
	}
	if f.start > cap(f.buf)/2 {
		n := copy(f.buf, f.buf[f.start:])
		f.base += int64(f.start)
		f.pos, f.sumTo, f.start, f.buf = f.pos-f.start, f.sumTo-f.start, 0, f.buf[:n]
		return
	}
	next := make([]byte, len(f.buf), 2*cap(f.buf))
	copy(next, f.buf)
	f.buf = next
}

// flushSum adds what was consumed to the checksum.
func (f *feed) flushSum() {
	f.sum.Write(f.buf[f.sumTo:f.pos])
	f.sumTo = f.pos
}

// ReadByte reads one byte.
func (f *feed) ReadByte() (byte, error) {
	if f.pos == len(f.buf) {
		if err := f.fill(1); err != nil {
			return 0, err
		}
	}
	f.pos++
	return f.buf[f.pos-1], nil
}

// Read reads what is there, at least one byte.
func (f *feed) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := f.fill(1); err != nil {
		return 0, err
	}
	n := copy(p, f.buf[f.pos:])
	f.pos += n
	return n, nil
}

// peek returns the next n bytes without consuming them.
func (f *feed) peek(n int) ([]byte, error) {
	err := f.fill(n)
	return f.buf[f.pos:min(f.pos+n, len(f.buf))], err
}

// take consumes n bytes. They are valid until the next read.
func (f *feed) take(n int) ([]byte, error) {
	if err := f.fill(n); err != nil {
		return nil, damage(err)
	}
	f.pos += n
	return f.buf[f.pos-n : f.pos], nil
}

// checksum reads the last 20 bytes of a pack and compares them with the SHA-1 of all before.
func (f *feed) checksum() (ID, error) {
	f.flushSum()
	want := ID(f.sum.Sum(nil))
	f.mark()
	b, err := f.take(idSize)
	if err != nil {
		return want, err
	}
	if got := ID(b); got != want {
		return want, fmt.Errorf("checksum %s, want %s: %w", got, want, ErrCorrupt)
	}
	return want, nil
}
