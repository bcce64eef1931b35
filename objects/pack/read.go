package pack

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"
)

// A slot is one entry of a pack, its header read.
type slot struct {
	kind Kind
	size int64 // of the object
	at   int64 // where the zlib stream begins
}

// buffers holds idle readers of packs.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4096) }}

// inflaters holds idle decompressors.
var inflaters sync.Pool

// readSlot reads the header of the entry at off.
func readSlot(br *bufio.Reader, r io.ReaderAt, off, end int64) (s slot, err error) {
	if off < headerSize || off >= end {
		return s, fmt.Errorf("entry at byte %d of %d: %w", off, end, ErrCorrupt)
	}
	br.Reset(io.NewSectionReader(r, off, end-off))
	c, err := br.ReadByte()
	if err != nil {
		return s, damage(err)
	}
	s = slot{kind: Kind(c >> 4 & 7), size: int64(c & 15), at: off + 1}
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = br.ReadByte(); err != nil {
			return s, damage(err)
		}
		if shift > 53 {
			return s, fmt.Errorf("size of the entry at byte %d: %w", off, ErrCorrupt)
		}
		s.size |= int64(c&0x7f) << shift
		s.at++
	}
	// Deflate expands a byte to at most 1032, so a larger size is damage.
	if s.kind == 0 || s.kind == 5 || s.size > 1032*(end-s.at) {
		return s, fmt.Errorf("entry at byte %d: kind %d, size %d: %w", off, s.kind, s.size, ErrCorrupt)
	}
	return s, nil
}

// damage adds ErrCorrupt to errors of a malformed stream. It returns errors of the disk unchanged.
func damage(err error) error {
	var input flate.CorruptInputError
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("ends too early: %w", ErrCorrupt)
	case errors.As(err, &input), errors.Is(err, zlib.ErrHeader), errors.Is(err, zlib.ErrChecksum),
		errors.Is(err, zlib.ErrDictionary):
		return fmt.Errorf("%w: %w", err, ErrCorrupt)
	}
	return err
}

// readObject reads and checks the object whose entry is at off.
func readObject(r io.ReaderAt, id ID, off, end int64) (Kind, []byte, error) {
	br := buffers.Get().(*bufio.Reader)
	defer buffers.Put(br)
	s, err := readSlot(br, r, off, end)
	switch {
	case err != nil:
		return 0, nil, err
	case s.kind == offsetDelta || s.kind == refDelta:
		return 0, nil, ErrDelta
	case s.size > MaxSize:
		return 0, nil, fmt.Errorf("%d bytes: %w", s.size, ErrTooLarge)
	}
	data, ok, err := readStored(br, r, s, end)
	if err == nil && !ok {
		data, err = inflate(br, s)
	}
	if err != nil {
		return 0, nil, err
	}
	if got := Name(s.kind, data); got != id {
		return 0, nil, fmt.Errorf("content has the name %s: %w", got, ErrCorrupt)
	}
	return s.kind, data, nil
}

// readStored reads an object that Encode stored at level 0: one read, no copy but to close the gaps
// between blocks. It reports false if the entry is of another form.
func readStored(br *bufio.Reader, r io.ReaderAt, s slot, end int64) ([]byte, bool, error) {
	total := int64(storedSize(int(s.size)))
	head, err := br.Peek(7)
	if err != nil || s.at+total > end || head[2]&6 != 0 {
		return nil, false, nil // inflate reports the error, if there is one
	}
	raw := make([]byte, total)
	if err := readAt(r, raw, s.at); err != nil {
		return nil, false, err
	}
	out, rest := raw[:0], raw[2:]
	for {
		n := int(rest[1]) | int(rest[2])<<8
		last := rest[0] == 1
		if rest[0] > 1 || len(rest) < 5+n+4 || !last && len(rest) < 5+n+5+4 {
			return nil, false, nil
		}
		out = append(out, rest[5:5+n]...)
		rest = rest[5+n:]
		if last {
			return out[:len(out):len(out)], int64(len(out)) == s.size, nil
		}
	}
}

// inflate reads an object from its zlib stream.
func inflate(br *bufio.Reader, s slot) ([]byte, error) {
	z, err := inflaterOf(br)
	if err != nil {
		return nil, err
	}
	defer inflaters.Put(z)
	out := make([]byte, s.size)
	if _, err := io.ReadFull(z, out); err != nil {
		return nil, damage(err)
	}
	return out, atEnd(z)
}

// inflater starts to inflate an entry from its first byte.
func inflater(br *bufio.Reader, r io.ReaderAt, s slot, end int64) (io.ReadCloser, error) {
	br.Reset(io.NewSectionReader(r, s.at, end-s.at))
	return inflaterOf(br)
}

// inflaterOf starts to inflate what br is at.
func inflaterOf(br *bufio.Reader) (io.ReadCloser, error) {
	z, ok := inflaters.Get().(io.ReadCloser)
	if ok {
		if err := z.(zlib.Resetter).Reset(br, nil); err != nil {
			return nil, damage(err)
		}
		return z, nil
	}
	z, err := zlib.NewReader(br)
	if err != nil {
		return nil, damage(err)
	}
	return z, nil
}

// atEnd checks that a stream ends here, which also checks its checksum.
func atEnd(z io.Reader) error {
	var b [1]byte
	switch n, err := z.Read(b[:]); {
	case n > 0:
		return fmt.Errorf("longer than it says: %w", ErrCorrupt)
	case err == io.EOF:
		return nil
	case err != nil:
		return damage(err)
	}
	return fmt.Errorf("does not end: %w", ErrCorrupt)
}

// Size returns the declared size of an object, which [Dir.Get] verifies. The error wraps [ErrDelta] if it is stored as
// a delta.
func (d *Dir) Size(id ID) (n int64, err error) {
	err = d.look(id, func(f *file, off int64) error {
		if err := d.openData(f); err != nil {
			return err
		}
		br := headers.Get().(*bufio.Reader)
		defer headers.Put(br)
		s, err := readSlot(br, f.f, off, f.end)
		if err == nil && (s.kind == offsetDelta || s.kind == refDelta) {
			err = ErrDelta
		}
		n = s.size
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("size of object %s: %w", id, err)
	}
	return n, nil
}

// headers holds idle readers of nothing but the header of an entry.
var headers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 16) }}

// Kind returns the kind of an object. The error wraps [ErrDelta] if it is stored as a delta.
func (d *Dir) Kind(id ID) (k Kind, err error) {
	err = d.look(id, func(f *file, off int64) error {
		if err := d.openData(f); err != nil {
			return err
		}
		var head [1]byte
		if err := readAt(f.f, head[:], off); err != nil {
			return err
		}
		if k = Kind(head[0] >> 4 & 7); k == offsetDelta || k == refDelta {
			return ErrDelta
		}
		return nil
	})
	return k, err
}
