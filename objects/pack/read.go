package pack

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	gitbinary "github.com/go-git/go-git/v5/utils/binary"
	"github.com/klauspost/compress/zlib"
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
		h, content, err := readEntry(u.p, off, u.end, func(k Kind) bool { return !k.IsDelta() })
		if err != nil {
			return 0, nil, err
		}
		if k, data = h.Type, content; !k.IsDelta() {
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
	_, delta, err := readEntry(u.p, off, u.end, func(Kind) bool { return true })
	if err != nil {
		return nil, err
	}
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

// readEntry reads the header of the entry at off, and unpacks its data if wanted reports true. It does not use go-git's
// scanner, which allocates buffers and computes the checksum of a whole pack for each entry.
func readEntry(p io.ReaderAt, off, end int64, wanted func(Kind) bool) (h *packfile.ObjectHeader, data []byte, err error) {
	if off < headerSize || off >= end {
		return nil, nil, fmt.Errorf("entry at byte %d of %d: %w", off, end, ErrCorrupt)
	}
	src := &faultReader{Reader: io.NewSectionReader(p, off, end-off)}
	in := inflaters.Get().(*inflater)
	defer inflaters.Put(in)
	in.Reset(src)
	h, err = in.header(off)
	if err == nil {
		err = checkHeader(h, end-off)
	}
	if err == nil && wanted(h.Type) {
		data = make([]byte, h.Length)
		err = in.fill(data)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("entry at byte %d: %w", off, src.damage(err))
	}
	return h, data, nil
}

// An inflater reads an entry. Its buffers are used again for the next one.
type inflater struct {
	*bufio.Reader
	z io.ReadCloser // nil until needed
}

var inflaters = sync.Pool{New: func() any { return &inflater{Reader: bufio.NewReader(nil)} }}

// header reads the header of the entry at off.
func (in *inflater) header(off int64) (*packfile.ObjectHeader, error) {
	c, err := in.ReadByte()
	h := &packfile.ObjectHeader{Type: entryKind(c), Offset: off, Length: int64(c & 15)}
	for shift := 4; err == nil && c&0x80 != 0; shift += 7 {
		if shift > 56 {
			return nil, errors.New("size of more than 60 bits")
		}
		c, err = in.ReadByte()
		h.Length |= int64(c&0x7f) << shift
	}
	switch {
	case err != nil:
	case h.Type == offsetDelta:
		var back int64
		if back, err = gitbinary.ReadVariableWidthInt(in); err == nil && (back <= 0 || back > off) {
			err = fmt.Errorf("base %d bytes before it", back)
		}
		h.OffsetReference = off - back
	case h.Type == refDelta:
		_, err = io.ReadFull(in, h.Reference[:])
	}
	return h, err
}

// fill unpacks exactly len(data) bytes, and checks that nothing follows them.
func (in *inflater) fill(data []byte) (err error) {
	if in.z == nil {
		in.z, err = zlib.NewReader(in)
	} else {
		err = in.z.(zlib.Resetter).Reset(in, nil)
	}
	if err == nil {
		_, err = io.ReadFull(in.z, data)
	}
	if err != nil {
		return err
	}
	if n, err := io.ReadFull(in.z, make([]byte, 1)); n > 0 || err != io.EOF {
		return cmp.Or(err, fmt.Errorf("more than %d bytes", len(data)))
	}
	return nil
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
		h, _, err = readEntry(p, off, end, func(Kind) bool { return false })
		if err == nil && h.Type.IsDelta() {
			err = ErrDelta
		}
		return err
	})
	return h, err
}
