package state

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
)

// LongCached is the size above which a cached file is not read into memory.
const LongCached = 4 << 20

// CacheHead is the length of the header of a cached file: the BLAKE3 hash of the rest in hex, and a newline.
const CacheHead = 2*len(objects.Hash{}) + 1

// OpenCached checks a cached file and opens its content; ok is false if it is missing or damaged. A file of more than
// [LongCached] bytes is not read into memory.
func OpenCached(file string) (io.ReadCloser, bool) {
	fi, err := os.Lstat(file)
	if err != nil {
		return nil, false
	}
	if !fi.Mode().IsRegular() || fi.Size() <= LongCached {
		b, ok := ReadCacheBytes(file)
		return io.NopCloser(bytes.NewReader(b)), ok
	}
	f, err := pack.OpenFile(file)
	if err != nil {
		return nil, false
	}
	head, sum := make([]byte, CacheHead), objects.NewHasher()
	_, err = io.ReadFull(f, head)
	if err == nil {
		_, err = io.Copy(sum, f)
	}
	if err == nil && string(head) == sum.Sum().String()+"\n" {
		_, err = f.Seek(int64(CacheHead), io.SeekStart)
		if err == nil {
			return f, true
		}
	}
	f.Close() // it was only read
	return nil, false
}

// A CacheWriter writes a file of the cache. It buffers up to Most bytes; longer content goes to a temporary file. Write
// never fails: an error is reported by [CacheWriter.Finish], which then returns nil.
type CacheWriter struct {
	M    *DB
	File string
	Most int
	held bytes.Buffer // the content, up to Most bytes
	f    *os.File     // the temporary file for longer content
	sum  *objects.Hasher
	long int64 // bytes written to f
	err  error // of f
}

func (w *CacheWriter) Write(b []byte) (int, error) {
	if w.sum == nil && w.held.Len()+len(b) <= w.Most {
		return w.held.Write(b)
	}
	if w.sum == nil {
		w.begin()
	}
	w.put(b)
	return len(b), nil
}

// begin creates the temporary file and writes the buffered content to it.
func (w *CacheWriter) begin() {
	w.sum = objects.NewHasher()
	dir := filepath.Dir(w.File)
	if w.err = os.MkdirAll(dir, 0o700); w.err != nil {
		return
	}
	if w.f, w.err = os.CreateTemp(dir, ".tmp-*"); w.err != nil {
		return
	}
	if !w.M.SameCache() {
		w.err = os.ErrNotExist // it was dropped: older content must not enter the new one
		return
	}
	_, w.err = w.f.Write(make([]byte, CacheHead)) // replaced by the hash at the end
	w.put(w.held.Bytes())
	w.held = bytes.Buffer{}
}

func (w *CacheWriter) put(b []byte) {
	if w.err == nil {
		w.sum.Write(b)
		w.long += int64(len(b))
		_, w.err = w.f.Write(b)
	}
}

// Finish renames the file into place and opens its content. It returns nil if the content is longer than Most and could
// not be written.
func (w *CacheWriter) Finish() io.ReadCloser {
	if w.sum == nil {
		w.M.WriteCacheBytes(w.File, w.held.Bytes())
		return io.NopCloser(bytes.NewReader(w.held.Bytes()))
	}
	if w.err == nil {
		_, w.err = w.f.WriteAt([]byte(w.sum.Sum().String()+"\n"), 0)
	}
	if w.err == nil {
		w.err = w.f.Close() // some systems cannot move an open file
	}
	if w.err != nil || !w.M.SameCache() || disk.Replace(w.f.Name(), w.File) != nil {
		w.Drop()
		return nil
	}
	f, err := pack.OpenFile(w.File)
	w.M.grew(int64(CacheHead) + w.long)
	if err != nil {
		return nil // evicted already
	}
	if _, err := f.Seek(int64(CacheHead), io.SeekStart); err != nil {
		f.Close() // it was only opened
		return nil
	}
	return f
}

// Drop deletes the unfinished file.
func (w *CacheWriter) Drop() {
	if w.f != nil {
		w.f.Close()           // it may be closed already
		os.Remove(w.f.Name()) // if this fails it is evicted later
	}
}
