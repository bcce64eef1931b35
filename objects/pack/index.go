package pack

import (
	"cmp"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
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

// checkedIndex is the size up to which the checksum of an index is compared when it is opened.
const checkedIndex = 256 << 10

// An index finds objects in a pack. It is the index file in memory.
type index struct {
	b []byte
	n int // objects
}

// maxObjects is the maximum number of objects of a pack that is read: its index is in memory as a whole.
const maxObjects = 20_000_000

// openIndex reads an index file. It verifies the checksum of a small one; of a large one it checks only the structure.
// The file may be of any size in a directory that others write to, so it is read only if it has the size for its number
// of objects.
func openIndex(path string) (*index, error) {
	f, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	x, err := readIndex(f, size)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("index %s: %w", path, err)
	}
	return x, nil
}

func readIndex(r io.ReaderAt, size int64) (*index, error) {
	x := &index{b: make([]byte, min(size, int64(namesAt)))}
	if err := readAt(r, x.b, 0); err != nil {
		return nil, err
	}
	if err := x.checkHead(size); err != nil {
		return nil, err
	}
	x.b = append(x.b, make([]byte, size-int64(namesAt))...)
	if err := readAt(r, x.b[namesAt:], int64(namesAt)); err != nil {
		return nil, err
	}
	if body := x.b[:size-int64(idSize)]; size <= checkedIndex && ID(sha1.Sum(body)) != ID(x.b[len(body):]) {
		return nil, fmt.Errorf("wrong checksum: %w", ErrCorrupt)
	}
	return x, nil
}

// checkHead checks the magic number and the counts, from which it sets x.n, and that an index of size bytes can have them.
func (x *index) checkHead(size int64) error {
	if size < int64(namesAt+2*idSize) {
		return fmt.Errorf("%d bytes: %w", size, ErrCorrupt)
	}
	if string(x.b[:fanAt]) != idxMagic {
		return fmt.Errorf("not an index of version 2: %w", ErrCorrupt)
	}
	for i := range 257 {
		n := x.before(i)
		if n < x.n {
			return fmt.Errorf("counts are not in order: %w", ErrCorrupt)
		}
		x.n = n
	}
	// At most every object has a 64-bit offset in addition to the 32-bit one.
	n := int64(x.n)
	rest := size - int64(namesAt) - n*28 - int64(2*idSize)
	if rest < 0 || rest%8 != 0 || rest > n*8 {
		return fmt.Errorf("%d bytes for %d objects: %w", size, n, ErrCorrupt)
	}
	if n > maxObjects {
		return fmt.Errorf("%d objects: %w", n, ErrTooLarge)
	}
	return nil
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

// before returns the number of names that begin with a byte below first.
func (x *index) before(first int) int {
	if first == 0 {
		return 0
	}
	return int(binary.BigEndian.Uint32(x.b[fanAt+4*(first-1):]))
}

// sum returns the checksum of the pack of the index.
func (x *index) sum() ID { return ID(x.b[len(x.b)-2*idSize:]) }

// name returns the name of the i-th object.
func (x *index) name(i int) ID { return ID(x.b[namesAt+i*idSize:]) }

// offset returns the offset of the entry of the i-th object.
func (x *index) offset(i int) (int64, error) {
	off := int64(binary.BigEndian.Uint32(x.b[namesAt+x.n*24+i*4:]))
	if off < largeOffset {
		return off, nil
	}
	at := int64(namesAt) + int64(x.n)*28 + (off-largeOffset)*8
	if at+8 > int64(len(x.b)-2*idSize) {
		return 0, fmt.Errorf("object %d has no offset: %w", i, ErrCorrupt)
	}
	if off = int64(binary.BigEndian.Uint64(x.b[at:])); off < 0 {
		return 0, fmt.Errorf("object %d has no offset: %w", i, ErrCorrupt)
	}
	return off, nil
}

// find returns the offset of the entry of id.
func (x *index) find(id ID) (off int64, ok bool, err error) {
	lo, hi := x.before(int(id[0])), x.before(int(id[0])+1)
	at, ok := sort.Find(hi-lo, func(i int) int { return id.Compare(x.name(lo + i)) })
	if !ok {
		return 0, false, nil
	}
	off, err = x.offset(lo + at)
	return off, err == nil, err
}

// items returns all objects, in the order of the pack.
func (x *index) items() ([]item, error) {
	items := make([]item, x.n)
	for i := range items {
		off, err := x.offset(i)
		if err != nil {
			return nil, err
		}
		items[i] = item{x.name(i), binary.BigEndian.Uint32(x.b[namesAt+x.n*idSize+4*i:]), off}
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.off, b.off) })
	return items, nil
}
