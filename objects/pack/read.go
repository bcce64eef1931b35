package pack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// maxChain is the maximum length of a delta chain; git creates none longer than 4095.
const maxChain = 4095

// An unpacker reads the objects of a pack, with deltas resolved.
type unpacker struct {
	p    io.ReaderAt
	end  int64                                    // of the entries
	find func(ID) (off int64, ok bool, err error) // finds the base of a delta that names it
	// spend is called with the size of each object that a delta makes, before it is made. It may be nil.
	spend func(n int64) error
	// cache contains objects by their offsets, and kinds their kinds. It is nil if objects are read one by one.
	cache *cache.BufferLRU
	kinds map[int64]Kind
}

// object returns the object at off. It does not compare it with its name. It follows the chain to a whole object before
// it unpacks a delta: the size of an entry is not that of its delta, so a small pack could have a chain that fills the
// memory.
func (u *unpacker) object(off int64) (k Kind, data []byte, err error) {
	var chain []int64
	for {
		var known bool
		if k, data, known = u.cached(off); known {
			break
		}
		var b bytes.Buffer
		h, err := readEntry(u.p, off, u.end, func(h *packfile.ObjectHeader) io.Writer {
			if h.Type.IsDelta() {
				return nil
			}
			b.Grow(int(h.Length))
			return &b
		})
		if err != nil {
			return 0, nil, err
		}
		if k, data = h.Type, b.Bytes(); !k.IsDelta() {
			u.keep(off, k, data)
			break
		}
		if chain = append(chain, off); len(chain) > maxChain {
			return 0, nil, fmt.Errorf("entry at byte %d: a chain of more than %d deltas: %w", chain[0], maxChain, ErrTooLarge)
		}
		if off, err = u.base(h); err != nil {
			return 0, nil, err
		}
		if slices.Contains(chain, off) {
			return 0, nil, fmt.Errorf("entry at byte %d is its own base: %w", off, ErrCorrupt)
		}
	}
	for _, off := range slices.Backward(chain) {
		if data, err = u.apply(data, off); err != nil {
			return 0, nil, err
		}
		u.keep(off, k, data)
	}
	return k, data, nil
}

func (u *unpacker) cached(off int64) (Kind, []byte, bool) {
	if u.cache == nil {
		return 0, nil, false
	}
	data, ok := u.cache.Get(off)
	return u.kinds[off], data, ok
}

func (u *unpacker) keep(off int64, k Kind, data []byte) {
	if u.cache != nil {
		u.cache.Put(off, data)
		u.kinds[off] = k
	}
}

// base returns the offset of the base of a delta.
func (u *unpacker) base(h *packfile.ObjectHeader) (int64, error) {
	if h.Type == offsetDelta {
		return h.OffsetReference, nil
	}
	off, ok, err := u.find(h.Reference)
	if err == nil && !ok {
		err = fmt.Errorf("entry at byte %d: base %s: %w", h.Offset, h.Reference, ErrCorrupt)
	}
	return off, err
}

// apply applies the delta at off to its base.
func (u *unpacker) apply(base []byte, off int64) ([]byte, error) {
	var b bytes.Buffer
	if _, err := readEntry(u.p, off, u.end, func(*packfile.ObjectHeader) io.Writer { return &b }); err != nil {
		return nil, err
	}
	delta := b.Bytes()
	_, n := binary.Uvarint(delta) // the size of the base, then that of the result
	size, m := binary.Uvarint(delta[max(n, 0):])
	if n <= 0 || m <= 0 {
		return nil, fmt.Errorf("delta without a size: %w", ErrCorrupt)
	}
	if size > MaxSize {
		return nil, fmt.Errorf("delta of %d bytes: %w", size, ErrTooLarge)
	}
	if u.spend != nil {
		if err := u.spend(int64(size)); err != nil {
			return nil, err
		}
	}
	data, err := packfile.PatchDelta(base, delta)
	if err != nil {
		err = fmt.Errorf("entry at byte %d: %w: %w", off, err, ErrCorrupt)
	}
	return data, err
}

// readEntry reads the header of the entry at off, and unpacks its data into the writer that content returns, unless that
// is nil.
func readEntry(p io.ReaderAt, off, end int64, content func(*packfile.ObjectHeader) io.Writer) (*packfile.ObjectHeader, error) {
	if off < headerSize || off >= end {
		return nil, fmt.Errorf("entry at byte %d of %d: %w", off, end, ErrCorrupt)
	}
	pack := io.NewSectionReader(p, 0, end)
	src := &faultReader{Reader: pack}
	scanner := packfile.NewScanner(struct {
		io.Reader
		io.Seeker
	}{src, pack})
	h, err := scanner.SeekObjectHeader(off)
	if err == nil {
		err = checkHeader(h, end-off)
	}
	if err == nil {
		if w := content(h); w != nil {
			_, err = unpack(scanner, h, w)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("entry at byte %d: %w", off, src.damage(err))
	}
	return h, nil
}

// checkHeader checks the kind and the size of an entry that takes at most room bytes.
func checkHeader(h *packfile.ObjectHeader, room int64) error {
	k := h.Type
	// Deflate expands a byte to at most 1032, so a larger size is damage.
	if !k.Valid() || k == 5 || h.Length < 0 || h.Length > 1032*room {
		return fmt.Errorf("kind %d, size %d: %w", k, h.Length, ErrCorrupt)
	}
	if h.Length > MaxSize {
		return fmt.Errorf("%d bytes: %w", h.Length, ErrTooLarge)
	}
	return nil
}

// unpack copies the data of the entry to w, whose header the scanner has just read.
func unpack(scanner *packfile.Scanner, h *packfile.ObjectHeader, w io.Writer) (crc uint32, err error) {
	n, crc, err := scanner.NextObject(w)
	if err == nil && n != h.Length {
		err = fmt.Errorf("%d bytes instead of %d", n, h.Length)
	}
	return crc, err
}

// Size returns the declared size of an object, which [Dir.Get] verifies. The error wraps [ErrDelta] if it is stored as
// a delta.
func (d *Dir) Size(id ID) (int64, error) {
	h, err := d.header(id)
	if err != nil {
		return 0, fmt.Errorf("size of object %s: %w", id, err)
	}
	return h.Length, nil
}

// Kind returns the kind of an object. The error wraps [ErrDelta] if it is stored as a delta.
func (d *Dir) Kind(id ID) (Kind, error) {
	h, err := d.header(id)
	if err != nil {
		return 0, err
	}
	return h.Type, nil
}

func (d *Dir) header(id ID) (h *packfile.ObjectHeader, err error) {
	err = d.withData(id, func(f *file, p *os.File, off, end int64) error {
		h, err = readEntry(p, off, end, func(*packfile.ObjectHeader) io.Writer { return nil })
		if err == nil && h.Type.IsDelta() {
			err = ErrDelta
		}
		return err
	})
	return h, err
}
