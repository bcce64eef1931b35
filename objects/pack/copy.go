package pack

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// Entry returns an object in the encoding of its pack, to copy it to another pack without unpacking. The error wraps
// [ErrDelta] if it is stored as a delta, [ErrNotFound] if no pack contains it, [ErrTooLarge] if it takes more bytes than
// any object that [Writer.Receive] accepts, and [ErrCorrupt] if its bytes do not match the CRC-32 in the index of any
// pack that contains it.
func (d *Dir) Entry(id ID) (e Entry, err error) {
	err = d.withData(id, func(f *file, p *os.File, off, end int64) error {
		n, sum, err := f.entry(off, end)
		if err != nil {
			return err
		}
		if n > 2*MaxSize+maxPadding {
			return fmt.Errorf("%d bytes in the pack: %w", n, ErrTooLarge)
		}
		raw := make([]byte, n)
		if err := readAt(p, raw, off); err != nil {
			return err
		}
		if e = (Entry{ID: id, Kind: entryKind(raw[0]), crc: crc32.ChecksumIEEE(raw), raw: raw}); e.crc != sum {
			return fmt.Errorf("wrong CRC-32: %w", ErrCorrupt)
		}
		if e.Kind.IsDelta() {
			return ErrDelta
		}
		return nil
	})
	if err != nil {
		return Entry{}, fmt.Errorf("copy object %s: %w", id, err)
	}
	return e, nil
}

// EntrySize returns the number of bytes that an object takes in its pack, also as a delta.
func (d *Dir) EntrySize(id ID) (n int64, err error) {
	err = d.withData(id, func(f *file, p *os.File, off, end int64) error {
		n, _, err = f.entry(off, end)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("size of object %s: %w", id, err)
	}
	return n, nil
}

// EntrySizes returns the number of bytes that each object takes in the first pack that contains it.
func (d *Dir) EntrySizes() (map[ID]int64, error) {
	sizes := map[ID]int64{}
	err := d.each(func(f *file) error {
		_, end, err := f.open()
		if err != nil {
			return err
		}
		all, err := f.items()
		for i, it := range all {
			if _, ok := sizes[it.id]; err == nil && !ok {
				sizes[it.id], err = entrySize(all, i, end)
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sizes of objects: %w", err)
	}
	return sizes, nil
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
