package pack

import (
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
)

// flushAt is the buffer size of a Writer. A smaller pack is written with one call.
const flushAt = 1 << 20

// A Writer writes one pack. It is not safe for concurrent use; the slow part, [Encode], is. The pack is invisible to
// others until Close has returned.
type Writer struct {
	dir, mark string
	f         *os.File // nil until the first flush
	buf       []byte
	sum       uint32 // CRC-32 of the flushed bytes without the header
	size      int64  // of the pack so far, without its checksum
	items     []item
	seen      map[ID]struct{}
	err       error
	done      bool
}

// headerSize is the size of "PACK", the version 2, and the number of entries, which is known at the end.
const headerSize = 12

// Create starts a pack in dir, the directory objects/pack of a git repository. The names of its temporary files
// contain the mark, so that [Sweep] finds them after a crash.
func Create(dir, mark string) (*Writer, error) {
	if err := checkMark(mark); err != nil {
		return nil, err
	}
	return &Writer{dir: dir, mark: mark, size: headerSize, seen: map[ID]struct{}{},
		buf: append(make([]byte, 0, 64<<10), "PACK\x00\x00\x00\x02\x00\x00\x00\x00"...)}, nil
}

// Write creates a pack of the objects that fill adds; see [Create] and [Writer.Close]. If fill fails, there is no pack.
func Write(dir, mark string, fill func(*Writer) error) (name string, err error) {
	w, err := Create(dir, mark)
	if err != nil {
		return "", err
	}
	if err := fill(w); err != nil {
		return "", errors.Join(err, w.Abort())
	}
	return w.Close()
}

// Add appends an entry. Adding the same ID twice is a no-op. After an error the Writer only
// returns that error.
func (w *Writer) Add(e Entry) error {
	if len(e.raw) == 0 {
		return fmt.Errorf("add %s to a pack: the entry is empty", e.ID)
	}
	return w.add(e.ID, e.crc, e.raw)
}

func (w *Writer) add(id ID, crc uint32, raw []byte) error {
	if w.done {
		return errors.New("add to a pack that is closed")
	}
	if _, ok := w.seen[id]; ok || w.err != nil {
		return w.err
	}
	if uint64(len(w.items)) == math.MaxUint32 {
		return errors.New("add to a pack that is full")
	}
	w.seen[id] = struct{}{}
	w.items = append(w.items, item{id, crc, w.size})
	w.size += int64(len(raw))
	if len(w.buf)+len(raw) > flushAt {
		w.err = writeError(w.flush())
	}
	if w.err == nil && len(raw) >= flushAt {
		w.err = writeError(w.write(raw))
		return w.err
	}
	w.buf = append(w.buf, raw...)
	return w.err
}

// Len returns the number of objects added.
func (w *Writer) Len() int { return len(w.items) }

// Size returns the number of bytes of the pack so far.
func (w *Writer) Size() int64 { return w.size }

func (w *Writer) flush() error {
	err := w.write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// writeError says what failed in an error of writing, nil for nil.
func writeError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write a pack: %w", err)
}

// write appends b to the temporary file, which it creates if necessary.
func (w *Writer) write(b []byte) error {
	body := b
	if w.f == nil {
		f, err := os.CreateTemp(w.dir, packPrefix(w.mark)+"*")
		if err != nil {
			return err
		}
		w.f, body = f, b[headerSize:]
	}
	if _, err := w.f.Write(b); err != nil {
		return err
	}
	w.sum = crc32.Update(w.sum, crc32.IEEETable, body)
	return nil
}

// Abort discards the pack and removes its temporary file. After Close it is a no-op.
func (w *Writer) Abort() error {
	w.done = true
	if w.f == nil {
		return nil
	}
	f := w.f
	w.f = nil
	if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return errors.Join(err, removeFile(f.Name()))
	}
	return removeFile(f.Name())
}

// Close makes the pack durable and visible, and returns its name, "pack-<SHA-1>". If the pack is empty, it creates no
// file and returns "". On an error it removes the temporary files.
//
// An existing pack of the same name has the same content. It is replaced, which repairs it if it was damaged.
func (w *Writer) Close() (name string, err error) {
	if w.done {
		return "", errors.New("close a pack that is closed")
	}
	if w.err != nil || len(w.items) == 0 {
		return "", errors.Join(w.err, w.Abort())
	}
	if name, err = w.finish(); err != nil {
		return "", errors.Join(writeError(err), w.Abort())
	}
	w.done, w.f = true, nil
	return name, nil
}

// finish makes the pack and its index durable and visible.
func (w *Writer) finish() (string, error) {
	sum, err := w.seal()
	if err != nil {
		return "", err
	}
	if err := syncAndClose(w.f); err != nil {
		return "", err
	}
	idx, err := encodeIndex(w.items, sum)
	if err != nil {
		return "", err
	}
	x, err := w.writeIndex(idx)
	if err != nil {
		return "", err
	}
	name := "pack-" + sum.String()
	base := filepath.Join(w.dir, name)
	if err := rename(x.Name(), base+".idx", int64(len(idx))); err != nil {
		return "", errors.Join(err, removeFile(x.Name()))
	}
	if err := rename(w.f.Name(), base+".pack", w.size+int64(len(sum))); err != nil {
		return "", err
	}
	if err := Reinstate(base); err != nil { // the same pack may be marked as superseded
		return "", err
	}
	return name, SyncDir(w.dir)
}

// seal writes the number of entries and the checksum of the whole.
func (w *Writer) seal() (sum ID, err error) {
	var count [4]byte
	binary.BigEndian.PutUint32(count[:], uint32(len(w.items)))
	if w.f == nil {
		copy(w.buf[8:], count[:])
		sum = sha1.Sum(w.buf)
		w.buf = append(w.buf, sum[:]...)
		return sum, w.flush()
	}
	if err := w.flush(); err != nil {
		return sum, err
	}
	if _, err := w.f.WriteAt(count[:], 8); err != nil {
		return sum, err
	}
	if sum, err = w.rehash(); err != nil {
		return sum, err
	}
	_, err = w.f.Write(sum[:])
	return sum, err
}

// rehash reads the pack back to compute its checksum, which covers the number of entries in the header. It also checks
// that the file contains the written bytes, and leaves the file offset at the end.
func (w *Writer) rehash() (sum ID, err error) {
	var head [headerSize]byte
	if _, err := w.f.ReadAt(head[:], 0); err != nil {
		return sum, err
	}
	if _, err := w.f.Seek(headerSize, io.SeekStart); err != nil {
		return sum, err
	}
	h, c := sha1.New(), crc32.NewIEEE()
	h.Write(head[:])
	n, err := io.CopyBuffer(io.MultiWriter(h, c), onlyReader{w.f}, w.buf[:cap(w.buf)])
	if err == nil && n != w.size-headerSize {
		err = fmt.Errorf("%s has %d bytes, want %d: %w", w.f.Name(), n, w.size-headerSize, ErrCorrupt)
	}
	if err != nil {
		return sum, err
	}
	if c.Sum32() != w.sum {
		return sum, fmt.Errorf("%s does not contain the written bytes: %w", w.f.Name(), ErrCorrupt)
	}
	h.Sum(sum[:0])
	return sum, nil
}

// onlyReader hides the other methods of a file, so that io.CopyBuffer uses its buffer.
type onlyReader struct{ io.Reader }

// writeIndex writes a durable temporary file.
func (w *Writer) writeIndex(idx []byte) (*os.File, error) {
	f, err := os.CreateTemp(w.dir, idxPrefix(w.mark)+"*")
	if err != nil {
		return nil, err
	}
	_, err = f.Write(idx)
	if err = errors.Join(err, syncAndClose(f)); err != nil {
		return nil, errors.Join(err, removeFile(f.Name()))
	}
	return f, nil
}

// syncAndClose makes a file durable and read-only, and closes it.
func syncAndClose(f *os.File) error { return errors.Join(f.Sync(), f.Chmod(0o400), f.Close()) }

// rename gives a file its final name. On systems where an open file cannot be replaced, an existing one of the same
// size is kept: it has the same content.
func rename(tmp, final string, size int64) error {
	err := os.Rename(tmp, final)
	if err == nil {
		return nil
	}
	if st, e := os.Stat(final); e != nil || st.Size() != size {
		return err
	}
	return removeFile(tmp)
}
