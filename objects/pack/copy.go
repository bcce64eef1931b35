package pack

import (
	"cmp"
	"crypto/sha1"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// Entry returns an object in the encoding of its pack, to copy it to another pack without unpacking. The error wraps
// [ErrDelta] if it is stored as a delta, and [ErrNotFound] if no pack contains it.
func (d *Dir) Entry(id ID) (e Entry, err error) { return d.entry(id, false) }

// CheckedEntry is [Dir.Entry] that also compares the bytes with the CRC-32 in the index. The error wraps [ErrCorrupt] if
// every pack that contains the object is damaged there.
func (d *Dir) CheckedEntry(id ID) (e Entry, err error) { return d.entry(id, true) }

func (d *Dir) entry(id ID, checked bool) (e Entry, err error) {
	err = d.withData(id, func(f *file, off int64) error {
		n, sum, err := f.entry(off)
		if err != nil {
			return err
		}
		raw := make([]byte, n)
		if err := readAt(f.f, raw, off); err != nil {
			return err
		}
		k := entryKind(raw[0])
		if k.isDelta() {
			return ErrDelta
		}
		e = Entry{ID: id, Kind: k, crc: crc32.ChecksumIEEE(raw), raw: raw}
		if checked && e.crc != sum {
			return fmt.Errorf("wrong CRC-32: %w", ErrCorrupt)
		}
		return nil
	})
	if err != nil {
		return Entry{}, fmt.Errorf("copy object %s: %w", id, err)
	}
	return e, nil
}

// EntrySize returns [Entry.Size] of [Dir.Entry] without reading the object.
func (d *Dir) EntrySize(id ID) (n int, err error) {
	err = d.withData(id, func(f *file, off int64) error {
		if _, err := f.kind(off); err != nil {
			return err
		}
		size, err := f.entrySize(off)
		n = int(size)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("size of object %s: %w", id, err)
	}
	return n, nil
}

// StoredSize is [Dir.EntrySize] without the refusal of deltas.
func (d *Dir) StoredSize(id ID) (n int64, err error) {
	err = d.withData(id, func(f *file, off int64) error {
		n, err = f.entrySize(off)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("size of object %s: %w", id, err)
	}
	return n, nil
}

// kind returns the kind of the entry at off of a pinned file with open data, or [ErrDelta].
func (f *file) kind(off int64) (Kind, error) {
	var head [1]byte
	if err := readAt(f.f, head[:], off); err != nil {
		return 0, err
	}
	k := entryKind(head[0])
	if k.isDelta() {
		return 0, ErrDelta
	}
	return k, nil
}

// entrySize returns the size of the entry at off of a pinned file with open data.
func (f *file) entrySize(off int64) (int64, error) {
	n, _, err := f.entry(off)
	return n, err
}

// entry returns the size of the entry at off of a pinned file with open data, and its CRC-32 in the index.
func (f *file) entry(off int64) (size int64, sum uint32, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.starts == nil {
		items, err := f.idx.items()
		if err != nil {
			return 0, 0, err
		}
		f.starts, f.sums = make([]int64, len(items), len(items)+1), make([]uint32, len(items))
		for i, it := range items {
			f.starts[i], f.sums[i] = it.off, it.crc
		}
		f.starts = append(f.starts, f.end)
	}
	i, ok := slices.BinarySearch(f.starts, off)
	if !ok || i+1 >= len(f.starts) || f.starts[i+1] <= off || f.starts[i+1] > f.end {
		return 0, 0, fmt.Errorf("entry at byte %d: %w", off, ErrCorrupt)
	}
	return f.starts[i+1] - off, f.sums[i], nil
}

// StreamSize returns the length of the output of [Stream] for entries with a total of size bytes.
func StreamSize(size int64) int64 { return headerSize + size + int64(idSize) }

// ErrChanged means that the number or the total size of the entries differs from the declared one.
var ErrChanged = errors.New("the store changed meanwhile")

// Stream writes a pack with n entries to w, without an index, as git expects it over a connection. It fails with
// [ErrChanged] if the output would be longer or shorter than [StreamSize] of size.
func Stream(w io.Writer, n int, size int64, entries func(yield func(Entry) error) error) error {
	sum := sha1.New()
	both := io.MultiWriter(w, sum)
	if _, err := io.WriteString(both, packHeader(n)); err != nil {
		return err
	}
	err := entries(func(e Entry) error {
		n--
		if size -= int64(len(e.raw)); size < 0 || n < 0 {
			return ErrChanged
		}
		_, err := both.Write(e.raw)
		return err
	})
	if err == nil && (n != 0 || size != 0) {
		err = ErrChanged
	}
	if err != nil {
		return err
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// SortByOffset sorts ids by their position in the packs, so that reading them in order is sequential. Ids in no pack
// come last.
func (d *Dir) SortByOffset(ids []ID) error {
	type place struct {
		id   ID
		base string
		off  int64
	}
	places := make([]place, len(ids))
	for i, id := range ids {
		places[i] = place{id: id, base: "\xff"}
		err := d.lookup(id, func(f *file, off int64) error {
			places[i].base, places[i].off = f.base, off
			return nil
		})
		if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrDelta) {
			return err
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.base, b.base), cmp.Compare(a.off, b.off), a.id.Compare(b.id))
	})
	for i := range places {
		ids[i] = places[i].id
	}
	return nil
}
