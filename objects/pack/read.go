package pack

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"
)

// An entryHeader is the header of a pack entry.
type entryHeader struct {
	kind    Kind
	size    int64 // of the object
	dataOff int64 // offset of the zlib stream in the pack
}

// entryReaders contains idle readers for entries.
var entryReaders = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4096) }}

// inflaters contains idle decompressors.
var inflaters sync.Pool

// readEntryHeader reads the header of the entry at off and leaves br at its zlib stream. A delta is [ErrDelta].
func readEntryHeader(br *bufio.Reader, r io.ReaderAt, off, end int64) (h entryHeader, err error) {
	if off < headerSize || off >= end {
		return h, fmt.Errorf("entry at byte %d of %d: %w", off, end, ErrCorrupt)
	}
	br.Reset(io.NewSectionReader(r, off, end-off))
	k, size, n, err := decodeHeader(br)
	if err != nil {
		return h, fmt.Errorf("entry at byte %d: %w", off, err)
	}
	h = entryHeader{kind: k, size: size, dataOff: off + int64(n)}
	// Deflate expands a byte to at most 1032, so a larger size is damage.
	if k == 0 || k == 5 || size > 1032*(end-h.dataOff) {
		return h, fmt.Errorf("entry at byte %d: kind %d, size %d: %w", off, k, size, ErrCorrupt)
	}
	if k.isDelta() {
		return h, ErrDelta
	}
	return h, nil
}

// decodeHeader reads the kind of an entry and the size of its object, and returns the number of bytes read.
func decodeHeader(r io.ByteReader) (k Kind, size int64, n int, err error) {
	c, err := r.ReadByte()
	if err != nil {
		return 0, 0, 0, asCorrupt(err)
	}
	k, size, n = entryKind(c), int64(c&15), 1
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = r.ReadByte(); err != nil {
			return 0, 0, 0, asCorrupt(err)
		}
		if shift > 53 {
			return 0, 0, 0, fmt.Errorf("size of an entry: %w", ErrCorrupt)
		}
		size |= int64(c&0x7f) << shift
		n++
	}
	return k, size, n, nil
}

// asCorrupt adds [ErrCorrupt] to errors of a malformed stream. It returns I/O errors unchanged.
func asCorrupt(err error) error {
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

// inflate reads an object from its zlib stream.
func inflate(br *bufio.Reader, h entryHeader) ([]byte, error) {
	z, ok := inflaters.Get().(io.ReadCloser)
	var err error
	if ok {
		err = z.(zlib.Resetter).Reset(br, nil)
	} else {
		z, err = zlib.NewReader(br)
	}
	if err != nil {
		return nil, asCorrupt(err)
	}
	defer inflaters.Put(z)
	out := make([]byte, h.size)
	if _, err := io.ReadFull(z, out); err != nil {
		return nil, asCorrupt(err)
	}
	return out, checkEnd(z)
}

// checkEnd checks that a zlib stream ends here. The decompressor then verifies its checksum.
func checkEnd(z io.Reader) error {
	var b [1]byte
	switch n, err := z.Read(b[:]); {
	case n > 0:
		return fmt.Errorf("longer than its header says: %w", ErrCorrupt)
	case err == io.EOF:
		return nil
	case err != nil:
		return asCorrupt(err)
	}
	return fmt.Errorf("does not end: %w", ErrCorrupt)
}

// Size returns the declared size of an object, which [Dir.Get] verifies. The error wraps [ErrDelta] if it is stored as
// a delta.
func (d *Dir) Size(id ID) (n int64, err error) {
	h, err := d.header(id)
	if err != nil {
		return 0, fmt.Errorf("size of object %s: %w", id, err)
	}
	return h.size, nil
}

// Kind returns the kind of an object. The error wraps [ErrDelta] if it is stored as a delta.
func (d *Dir) Kind(id ID) (Kind, error) {
	h, err := d.header(id)
	return h.kind, err
}

func (d *Dir) header(id ID) (h entryHeader, err error) {
	err = d.withData(id, func(f *file, p *os.File, off, end int64) error {
		br := entryReaders.Get().(*bufio.Reader)
		defer entryReaders.Put(br)
		h, err = readEntryHeader(br, p, off, end)
		return err
	})
	return h, err
}
