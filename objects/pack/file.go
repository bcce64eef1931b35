package pack

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"sync"
)

// A file is one pack with its index. Both are opened when they are first needed, and stay open; a file that is removed from the list is
// closed by the runtime when nobody reads it.
type file struct {
	base string // path without ".pack"

	mu  sync.Mutex
	f   *os.File // nil until needed
	end int64    // offset of the end of the entries
	idx *index
	all []item // the entries by their offsets, ascending; nil until needed
}

// index returns the index, which it reads once.
func (f *file) index() (x *index, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.idx == nil {
		f.idx, err = openIndex(f.base + ".idx")
	}
	return f.idx, err
}

// open returns the pack and the offset of the end of its entries. It opens it once, and checks that the index belongs to it.
func (f *file) open() (*os.File, int64, error) {
	x, err := f.index()
	if err != nil {
		return nil, 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.f != nil {
		return f.f, f.end, nil
	}
	p, err := OpenFile(f.base + ".pack")
	if err != nil {
		return nil, 0, err
	}
	if f.end, err = checkPack(p, x); err != nil {
		p.Close() // the error before it is the cause
		return nil, 0, fmt.Errorf("pack %s.pack: %w", f.base, err)
	}
	f.f = p
	return p, f.end, nil
}

// close closes the pack.
func (f *file) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.f == nil {
		return nil
	}
	err := f.f.Close()
	f.f = nil
	return err
}

// items returns the entries by their offsets, which it reads once.
func (f *file) items() (all []item, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all, err = f.idx.items()
	}
	return f.all, err
}

// entry returns the size of the entry at off, and its CRC-32 in the index. end is the end of the entries.
func (f *file) entry(off, end int64) (size int64, sum uint32, err error) {
	all, err := f.items()
	if err != nil {
		return 0, 0, err
	}
	i, ok := slices.BinarySearchFunc(all, off, func(it item, off int64) int { return cmp.Compare(it.off, off) })
	if !ok {
		return 0, 0, fmt.Errorf("entry at byte %d: %w", off, ErrCorrupt)
	}
	size, err = entrySize(all, i, end)
	return size, all[i].crc, err
}

// entrySize returns the size of the entry all[i]. end is the end of the entries.
func entrySize(all []item, i int, end int64) (int64, error) {
	off, next := all[i].off, end
	if i+1 < len(all) {
		next = all[i+1].off
	}
	if next <= off || next > end {
		return 0, fmt.Errorf("entry at byte %d: %w", off, ErrCorrupt)
	}
	return next - off, nil
}

// checkPack checks, by header and checksum, that p is a pack and that x is its index.
func checkPack(p *os.File, x *index) (end int64, err error) {
	st, err := p.Stat()
	if err != nil {
		return 0, err
	}
	end = st.Size() - int64(idSize)
	if end < headerSize {
		return 0, fmt.Errorf("%d bytes: %w", st.Size(), ErrCorrupt)
	}
	var head [headerSize]byte
	if err := readAt(p, head[:], 0); err != nil {
		return 0, err
	}
	if got, want := string(head[:]), packHeader(x.n()); got != want {
		return 0, fmt.Errorf("header %x, want %x: %w", got, want, ErrCorrupt)
	}
	var sum ID
	if err := readAt(p, sum[:], end); err != nil {
		return 0, err
	}
	if want := x.sum(); sum != want {
		return 0, fmt.Errorf("checksum %s, the index says %s: %w", sum, want, ErrCorrupt)
	}
	return end, nil
}

func packHeader(n int) string {
	return string([]byte{'P', 'A', 'C', 'K', 0, 0, 0, 2, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}
