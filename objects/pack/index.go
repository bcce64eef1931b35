package pack

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"sync/atomic"
)

// An item is one line of an index: an object, and the CRC-32 and the offset of its entry.
type item struct {
	id  ID
	crc uint32
	off int64
}

const (
	idxMagic    = "\xfftOc\x00\x00\x00\x02"
	fanAt       = len(idxMagic)
	namesAt     = fanAt + 256*4
	idSize      = len(ID{})
	largeOffset = 1 << 31 // marks an offset in the table of 64-bit offsets
)

// encodeIndex returns an index (version 2) of the pack with the checksum sum. It sorts items.
func encodeIndex(items []item, sum ID) []byte {
	slices.SortFunc(items, func(a, b item) int { return a.id.Compare(b.id) })
	b := append(make([]byte, 0, namesAt+len(items)*28+2*idSize), idxMagic...)
	k := 0
	for first := range 256 {
		for k < len(items) && int(items[k].id[0]) <= first {
			k++
		}
		b = binary.BigEndian.AppendUint32(b, uint32(k))
	}
	for _, it := range items {
		b = append(b, it.id[:]...)
	}
	for _, it := range items {
		b = binary.BigEndian.AppendUint32(b, it.crc)
	}
	var large []int64
	for _, it := range items {
		o := uint32(it.off)
		if it.off >= largeOffset {
			o = largeOffset | uint32(len(large))
			large = append(large, it.off)
		}
		b = binary.BigEndian.AppendUint32(b, o)
	}
	for _, o := range large {
		b = binary.BigEndian.AppendUint64(b, uint64(o))
	}
	b = append(b, sum[:]...)
	own := sha1.Sum(b)
	return append(b, own[:]...)
}

// smallIndex is the size up to which an index is read whole: one read, no open file.
const smallIndex = 256 << 10

// An index finds objects in the index file of one pack, reading only what it needs.
type index struct {
	r    io.ReaderAt
	f    *os.File // the same as r; nil if the index is in memory
	fan  [257]int // fan[b] = number of names that begin with a byte below b
	n    int
	size int64

	finds atomic.Int32
	whole atomic.Pointer[bytes.Reader] // all of it, after busyIndex finds
}

// reader returns where the index is read from.
func (x *index) reader() io.ReaderAt {
	if r := x.whole.Load(); r != nil {
		return r
	}
	return x.r
}

// count counts a search. An index that is searched often is read once, not at each step of each search.
func (x *index) count() {
	if x.f == nil || x.size > wholeIndex || x.finds.Add(1) != busyIndex {
		return
	}
	b := make([]byte, x.size)
	if readAt(x.r, b, 0) == nil { // else the search reports the error
		x.whole.Store(bytes.NewReader(b))
	}
}

// Limits of an index that is read whole.
const (
	busyIndex  = 256
	wholeIndex = 16 << 20
)

// openIndex opens an index file. It verifies the checksum of a small one; of a large one it checks only the structure.
func openIndex(path string) (*index, error) {
	f, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	x, err := newIndex(f, size)
	if err == nil && x.f != nil {
		return x, nil
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, fmt.Errorf("index %s: %w", path, err)
	}
	return x, nil
}

func newIndex(f *os.File, size int64) (*index, error) {
	if size > smallIndex {
		return parseIndex(f, f, size)
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	return parseSmall(b)
}

func parseSmall(b []byte) (*index, error) {
	if len(b) < idSize {
		return nil, fmt.Errorf("%d bytes: %w", len(b), ErrCorrupt)
	}
	body, sum := b[:len(b)-idSize], b[len(b)-idSize:]
	if got := sha1.Sum(body); !bytes.Equal(got[:], sum) {
		return nil, fmt.Errorf("wrong checksum: %w", ErrCorrupt)
	}
	return parseIndex(bytes.NewReader(b), nil, int64(len(b)))
}

func parseIndex(r io.ReaderAt, f *os.File, size int64) (*index, error) {
	x := &index{r: r, f: f, size: size}
	var head [namesAt]byte
	if err := readAt(r, head[:], 0); err != nil {
		return nil, err
	}
	if string(head[:fanAt]) != idxMagic {
		return nil, fmt.Errorf("not an index of version 2: %w", ErrCorrupt)
	}
	for i := range 256 {
		x.fan[i+1] = int(binary.BigEndian.Uint32(head[fanAt+4*i:]))
		if x.fan[i+1] < x.fan[i] {
			return nil, fmt.Errorf("counts are not in order: %w", ErrCorrupt)
		}
	}
	x.n = x.fan[256]
	// At most every object has a 64-bit offset in addition to the 32-bit one.
	rest := size - int64(namesAt) - int64(x.n)*28 - 2*int64(idSize)
	if rest < 0 || rest%8 != 0 || rest > int64(x.n)*8 {
		return nil, fmt.Errorf("%d bytes for %d objects: %w", size, x.n, ErrCorrupt)
	}
	return x, nil
}

// readAt fills b. An end of the file before that is damage, not io.EOF.
func readAt(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("ends at byte %d: %w", off+int64(n), ErrCorrupt)
	}
	return err
}

func (x *index) close() error {
	if x.f == nil {
		return nil
	}
	return x.f.Close()
}

// sum returns the checksum of the pack of the index.
func (x *index) sum() (sum ID, err error) {
	return sum, readAt(x.r, sum[:], x.size-2*int64(idSize))
}

// names reads the names from lo up to hi into buf.
func (x *index) names(buf []byte, lo, hi int) ([]byte, error) {
	buf = slices.Grow(buf[:0], (hi-lo)*idSize)[:(hi-lo)*idSize]
	return buf, readAt(x.r, buf, int64(namesAt)+int64(lo)*int64(idSize))
}

// offset returns the offset of the entry of the i-th object.
func (x *index) offset(i int) (int64, error) {
	var b [8]byte
	if err := readAt(x.reader(), b[:4], int64(namesAt)+int64(x.n)*24+int64(i)*4); err != nil {
		return 0, err
	}
	off := int64(binary.BigEndian.Uint32(b[:4]))
	if off < largeOffset {
		return off, nil
	}
	at := int64(namesAt) + int64(x.n)*28 + (off-largeOffset)*8
	if at+8 > x.size-2*int64(idSize) {
		return 0, fmt.Errorf("object %d has no offset: %w", i, ErrCorrupt)
	}
	if err := readAt(x.reader(), b[:], at); err != nil {
		return 0, err
	}
	if off = int64(binary.BigEndian.Uint64(b[:])); off < 0 {
		return 0, fmt.Errorf("object %d has no offset: %w", i, ErrCorrupt)
	}
	return off, nil
}

// find returns the offset of the entry of id.
func (x *index) find(id ID) (off int64, ok bool, err error) {
	lo, hi := x.fan[id[0]], x.fan[int(id[0])+1]
	x.count()
	r := x.reader()
	at, ok := sort.Find(hi-lo, func(i int) int {
		var name ID
		if err == nil {
			err = readAt(r, name[:], int64(namesAt)+int64(lo+i)*int64(idSize))
		}
		return id.Compare(name)
	})
	if err != nil || !ok {
		return 0, false, err
	}
	off, err = x.offset(lo + at)
	return off, err == nil, err
}

// items reads the whole index, in the order of the pack.
func (x *index) items() ([]item, error) {
	b := make([]byte, x.size)
	if err := readAt(x.r, b, 0); err != nil {
		return nil, err
	}
	whole := &index{r: bytes.NewReader(b), n: x.n, size: x.size}
	items := make([]item, x.n)
	for i := range items {
		items[i].id = ID(b[namesAt+i*idSize:])
		items[i].crc = binary.BigEndian.Uint32(b[namesAt+x.n*idSize+4*i:])
		off, err := whole.offset(i)
		if err != nil {
			return nil, err
		}
		items[i].off = off
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.off, b.off) })
	return items, nil
}
