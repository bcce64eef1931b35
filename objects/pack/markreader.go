package pack

import (
	"crypto/sha1"
	"fmt"
	"hash"
	"io"
)

// A markReader is a buffered reader of untrusted input. It limits the number of bytes, hashes them, keeps those since
// a mark, and as an [io.ByteReader] it makes a decompressor read no byte too many.
type markReader struct {
	r        io.Reader
	limit    int64
	buf      []byte // read and not dropped yet
	pos      int    // end of the consumed bytes in buf
	start    int    // the mark
	base     int64  // of buf[0] in the stream
	sum      hash.Hash
	summed   int // end of the hashed bytes in buf
	err      error
	progress func(int64)
	maxKept  int64 // maximum number of marked bytes in memory, about; 0 for no limit
}

const feedSize = 256 << 10

func newMarkReader(r io.Reader, limit int64, progress func(int64)) *markReader {
	return &markReader{r: r, limit: limit, progress: progress, sum: sha1.New(), buf: make([]byte, 0, feedSize)}
}

// offset returns the number of consumed bytes.
func (f *markReader) offset() int64 { return f.base + int64(f.pos) }

// mark sets the start of [markReader.marked] to the current position, and releases the bytes before it.
func (f *markReader) mark() { f.start = f.pos }

// marked returns the bytes consumed since the mark. They are valid until the next read.
func (f *markReader) marked() []byte { return f.buf[f.start:f.pos] }

// fill makes at least n unconsumed bytes available, if the stream has them.
func (f *markReader) fill(n int) error {
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

// makeRoom drops the bytes before the mark, or else grows the buffer.
func (f *markReader) makeRoom() {
	if len(f.buf) < cap(f.buf) {
		return
	}
	f.flushSum()
	if f.start > cap(f.buf)/2 {
		n := copy(f.buf, f.buf[f.start:])
		f.base += int64(f.start)
		f.pos, f.summed, f.start, f.buf = f.pos-f.start, f.summed-f.start, 0, f.buf[:n]
		return
	}
	if n := int64(f.pos - f.start); f.maxKept > 0 && n > f.maxKept {
		f.err = fmt.Errorf("an entry of more than %d bytes: %w", n, ErrTooLarge)
		return
	}
	next := make([]byte, len(f.buf), 2*cap(f.buf))
	copy(next, f.buf)
	f.buf = next
}

// flushSum adds the consumed bytes to the checksum.
func (f *markReader) flushSum() {
	f.sum.Write(f.buf[f.summed:f.pos])
	f.summed = f.pos
}

// ReadByte implements [io.ByteReader].
func (f *markReader) ReadByte() (byte, error) {
	if f.pos == len(f.buf) {
		if err := f.fill(1); err != nil {
			return 0, err
		}
	}
	f.pos++
	return f.buf[f.pos-1], nil
}

// Read implements [io.Reader].
func (f *markReader) Read(p []byte) (int, error) {
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

// next consumes n bytes. They are valid until the next read.
func (f *markReader) next(n int) ([]byte, error) {
	if err := f.fill(n); err != nil {
		return nil, asCorrupt(err)
	}
	f.pos += n
	return f.buf[f.pos-n : f.pos], nil
}

// checksum reads the last 20 bytes of a pack and compares them with the SHA-1 of all before.
func (f *markReader) checksum() error {
	f.flushSum()
	want := ID(f.sum.Sum(nil))
	f.mark()
	b, err := f.next(idSize)
	if err == nil && ID(b) != want {
		err = fmt.Errorf("checksum %s, want %s: %w", ID(b), want, ErrCorrupt)
	}
	return err
}
