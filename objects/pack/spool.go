package pack

import (
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"os"
)

// minSpool is the size from which a received or copied object goes through a file instead of memory.
const minSpool = 16 << 20

// minSpooled is the number of bytes to which such objects may always unpack, whatever the size of the pack: they cost
// time, but no memory.
const minSpooled = 1 << 30

// A crcWriter computes the CRC-32 and the length of its input.
type crcWriter struct {
	w   io.Writer
	crc hash.Hash32
	n   int64
}

func (c *crcWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.crc.Write(b[:n])
	c.n += int64(n)
	return n, err
}

// spool receives a large object through a temporary file next to the pack, because its name is known only at its end.
func (in *receiver) spool(k Kind, size int64) (id ID, err error) {
	f, err := os.CreateTemp(in.w.dir, packPrefix(in.w.mark)+"*")
	if err != nil {
		return id, err
	}
	defer func() { err = errors.Join(err, f.Close(), removeFile(f.Name())) }()
	raw := &crcWriter{w: f, crc: crc32.NewIEEE()}
	in.f.spill = raw
	defer func() { in.f.spill = nil }()
	if id, err = in.object(k, size); err != nil {
		return id, err
	}
	if err := in.f.spillMarked(); err != nil {
		return id, err
	}
	if size > maxInMemory {
		if in.large == nil {
			in.large = map[ID]bool{}
		}
		in.large[id] = true
	}
	return id, in.w.addFrom(id, raw.crc.Sum32(), io.NewSectionReader(f, 0, raw.n), raw.n)
}

// addFrom appends an entry of n bytes from r.
func (w *Writer) addFrom(id ID, crc uint32, r io.Reader, n int64) error {
	if ok, err := w.begin(id, crc); !ok {
		return err
	}
	w.size += n
	w.err = writeError(w.flush())
	for buf := make([]byte, 256<<10); n > 0 && w.err == nil; {
		m, err := io.ReadFull(r, buf[:min(n, int64(len(buf)))])
		if err != nil {
			w.err = writeError(err)
			break
		}
		n -= int64(m)
		w.err = writeError(w.write(buf[:m]))
	}
	return w.err
}

// begin registers an entry before it is appended. It reports false if the pack contains the object already.
func (w *Writer) begin(id ID, crc uint32) (bool, error) {
	if w.done {
		return false, errors.New("add to a pack that is closed")
	}
	if w.err != nil {
		return false, w.err
	}
	if _, ok := w.seen[id]; ok {
		return false, nil
	}
	if uint64(len(w.items)) == math.MaxUint32 {
		return false, errors.New("add to a pack that is full")
	}
	w.seen[id] = struct{}{}
	w.items = append(w.items, item{id, crc, w.size})
	return true, nil
}

// CopyTo copies the pack entry of an object to w and returns its size. Large entries are not kept in memory. The errors
// are those of [Dir.Entry].
func (d *Dir) CopyTo(w *Writer, id ID) (n int64, err error) {
	size, err := d.EntrySize(id)
	if err != nil {
		return 0, err
	}
	if size <= minSpool {
		e, err := d.Entry(id)
		if err != nil {
			return 0, err
		}
		return int64(e.Size()), w.Add(e)
	}
	err = d.withData(id, func(f *file, off int64) error {
		if _, err := f.kind(off); err != nil {
			return err
		}
		if n, err = f.entrySize(off); err != nil {
			return err
		}
		crc := crc32.NewIEEE()
		if _, err := io.Copy(crc, io.NewSectionReader(f.f, off, n)); err != nil {
			return err
		}
		return w.addFrom(id, crc.Sum32(), io.NewSectionReader(f.f, off, n), n)
	})
	if err != nil {
		err = fmt.Errorf("copy object %s: %w", id, err)
	}
	return n, err
}
