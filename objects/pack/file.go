package pack

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// A file is one pack with its index. Both are opened when they are first needed. Readers pin it, so that it is closed
// only when nobody reads it.
type file struct {
	base string // path without ".pack"

	mu      sync.Mutex
	users   int
	closing bool // close at the last unpin
	idx     *index
	f       *os.File
	end     int64    // offset of the end of the entries
	starts  []int64  // offsets of the entries, ascending, and end; nil until needed
	sums    []uint32 // CRC-32 of the entries, in the same order
}

// pin opens the index and keeps f open until unpin.
func (f *file) pin() (*index, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.idx == nil {
		x, err := openIndex(f.base + ".idx")
		if err != nil {
			return nil, err
		}
		f.idx = x
	}
	f.users++
	return f.idx, nil
}

func (f *file) unpin() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.users--
	if f.closing {
		return f.closeIdle()
	}
	return nil
}

// closeWhenIdle closes f now if it is not pinned, else at its last unpin.
func (f *file) closeWhenIdle() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closing = true
	return f.closeIdle()
}

// isOpen reports whether the pack, not only the index, is open.
func (f *file) isOpen() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.f != nil
}

// closeData closes the pack, but not the index, if f is not pinned.
func (f *file) closeData() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.users > 0 || f.f == nil {
		return nil
	}
	err := f.f.Close()
	f.f = nil
	return err
}

func (f *file) closeIdle() error {
	if f.users > 0 {
		return nil
	}
	var err error
	if f.f != nil {
		err = f.f.Close()
	}
	if f.idx != nil {
		err = errors.Join(err, f.idx.close())
	}
	f.f, f.idx, f.starts, f.sums = nil, nil, nil, nil
	return err
}

// openData opens the pack of a pinned file unless it is open, and checks that the index belongs to it. opened reports
// whether it was closed before.
func (f *file) openData() (opened bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.f != nil {
		return false, nil
	}
	p, err := OpenFile(f.base + ".pack")
	if err != nil {
		return false, err
	}
	end, err := checkPack(p, f.idx)
	if err != nil {
		p.Close() // the error before it is the cause
		return false, fmt.Errorf("pack %s.pack: %w", f.base, err)
	}
	f.f, f.end = p, end
	return true, nil
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
	if got, want := string(head[:]), packHeader(x.n); got != want {
		return 0, fmt.Errorf("header %x, want %x: %w", got, want, ErrCorrupt)
	}
	var sum ID
	if err := readAt(p, sum[:], end); err != nil {
		return 0, err
	}
	want, err := x.sum()
	if err != nil {
		return 0, err
	}
	if sum != want {
		return 0, fmt.Errorf("checksum %s, the index says %s: %w", sum, want, ErrCorrupt)
	}
	return end, nil
}

func packHeader(n int) string {
	return string([]byte{'P', 'A', 'C', 'K', 0, 0, 0, 2, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}
