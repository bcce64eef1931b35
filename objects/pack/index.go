package pack

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// An item is one line of an index: an object, and the CRC-32 and the offset of its entry.
type item struct {
	id  ID
	crc uint32
	off int64
}

const (
	idxMagic = "\xfftOc\x00\x00\x00\x02"
	idSize   = len(ID{})
	// maxIndex is the size of the largest index that is read, that of 20 million objects: it is in memory as a whole.
	maxIndex = 600 << 20
)

// encodeIndex returns an index (version 2) of the pack with the checksum sum.
func encodeIndex(items []item, sum ID) ([]byte, error) {
	var w idxfile.Writer
	for _, it := range items {
		w.Add(it.id, uint64(it.off), it.crc)
	}
	if err := w.OnFooter(sum); err != nil {
		return nil, err
	}
	x, err := w.Index()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = idxfile.NewEncoder(&b).Encode(x)
	return b.Bytes(), err
}

// An index finds objects in a pack.
type index struct{ *idxfile.MemoryIndex }

// openIndex reads an index file and verifies its checksum.
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

func readIndex(f *os.File, size int64) (*index, error) {
	if size > maxIndex {
		return nil, fmt.Errorf("%d bytes: %w", size, ErrTooLarge)
	}
	src := &faultReader{Reader: f}
	x := &index{idxfile.NewMemoryIndex()}
	// The decoder compares the number of objects with the size of the file before it allocates memory for them.
	err := idxfile.NewDecoder(struct {
		io.Reader
		fileSize
	}{bufio.NewReaderSize(src, 64<<10), f}).Decode(x.MemoryIndex)
	return x, src.damage(err)
}

// fileSize is the method of a file with which go-git's decoder learns its size.
type fileSize interface{ Stat() (os.FileInfo, error) }

// A faultReader remembers an error of the disk or the connection: go-git's decoders report it as malformed data.
type faultReader struct {
	io.Reader
	err error
}

func (r *faultReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// damage returns the cause of an error of decoding what r has read: the error of reading it, or else [ErrCorrupt].
func (r *faultReader) damage(err error) error {
	if err == nil || r.err != nil || errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTooLarge) {
		return cmp.Or(r.err, err)
	}
	return fmt.Errorf("%v: %w", err, ErrCorrupt)
}

// sum returns the checksum of the pack of the index.
func (x *index) sum() ID { return ID(x.PackfileChecksum) }

// n returns the number of objects.
func (x *index) n() int { return int(x.Fanout[len(x.Fanout)-1]) }

// ids returns the names of all objects, sorted.
func (x *index) ids() (ids []ID) {
	for _, bucket := range x.Names {
		for ; len(bucket) > 0; bucket = bucket[idSize:] {
			ids = append(ids, ID(bucket))
		}
	}
	return ids
}

// find returns the offset of the entry of id.
func (x *index) find(id ID) (off int64, ok bool, err error) {
	off, err = x.FindOffset(id)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return 0, false, nil
	}
	if err != nil || off < 0 {
		return 0, false, fmt.Errorf("object %s has no offset (%v): %w", id, err, ErrCorrupt)
	}
	return off, true, nil
}

// items returns all objects, in the order of the pack.
func (x *index) items() ([]item, error) {
	entries, err := x.Entries()
	if err != nil {
		return nil, err
	}
	items := make([]item, 0, x.n())
	for {
		e, err := entries.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", err, ErrCorrupt)
		}
		items = append(items, item{e.Hash, e.CRC32, int64(e.Offset)})
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.off, b.off) })
	return items, nil
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
