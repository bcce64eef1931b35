package pack

import (
	"bufio"
	"cmp"
	"crypto/sha1"
	"fmt"
	"hash"
	"io"
)

// A markReader is a buffered reader of untrusted input. It limits the number of bytes, hashes them, keeps those since
// a mark, and as an [io.ByteReader] it makes a decompressor read no byte too many.
type markReader struct {
	r       *bufio.Reader
	kept    []byte // consumed since the mark, not hashed yet
	before  int64  // bytes consumed before the mark
	sum     hash.Hash
	maxKept int64 // maximum number of marked bytes; 0 for no limit
}

func newMarkReader(r io.Reader, limit int64, progress func(int64)) *markReader {
	return &markReader{r: bufio.NewReaderSize(&limitedReader{r, limit, progress}, 256<<10), sum: sha1.New()}
}

// A limitedReader fails after limit bytes.
type limitedReader struct {
	r        io.Reader
	left     int64
	progress func(int64) // may be nil
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.progress != nil {
		l.progress(int64(n))
	}
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("more bytes than allowed: %w", ErrTooLarge)
	}
	return n, err
}

// offset returns the number of consumed bytes.
func (f *markReader) offset() int64 { return f.before + int64(len(f.kept)) }

// mark sets the start of [markReader.marked] to the current position, and releases the bytes before it.
func (f *markReader) mark() {
	f.sum.Write(f.kept)
	f.before, f.kept = f.offset(), f.kept[:0]
}

// marked returns the bytes consumed since the mark. They are valid until the next read.
func (f *markReader) marked() []byte { return f.kept }

// check returns an error if there are too many marked bytes.
func (f *markReader) check() error {
	if f.maxKept > 0 && int64(len(f.kept)) > f.maxKept {
		return fmt.Errorf("an entry of more than %d bytes: %w", f.maxKept, ErrTooLarge)
	}
	return nil
}

// ReadByte implements [io.ByteReader].
func (f *markReader) ReadByte() (byte, error) {
	c, err := f.r.ReadByte()
	if err == nil {
		f.kept = append(f.kept, c)
		err = f.check()
	}
	return c, err
}

// Read implements [io.Reader].
func (f *markReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	f.kept = append(f.kept, p[:n]...)
	return n, cmp.Or(f.check(), err)
}

// next consumes n bytes.
func (f *markReader) next(n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, asCorrupt(err)
	}
	return b, nil
}

// checksum reads the last 20 bytes of a pack and compares them with the SHA-1 of all before.
func (f *markReader) checksum() error {
	f.mark()
	want := ID(f.sum.Sum(nil))
	f.maxKept = 0
	b, err := f.next(idSize)
	if err == nil && ID(b) != want {
		err = fmt.Errorf("checksum %s, want %s: %w", ID(b), want, ErrCorrupt)
	}
	return err
}
