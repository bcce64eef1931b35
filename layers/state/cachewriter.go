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

// LongCached is the size from which a file of the cache that may be long is written and read in pieces.
const LongCached = 4 << 20

// CacheHead is the length of what a cached file starts with: the BLAKE3 of the rest in hex, and a newline.
const CacheHead = 2*len(objects.Hash{}) + 1

// OpenCached opens the content of a cached file, which is checked first, and reports whether it is good. One of
// more than [longCached] bytes is not held in memory.
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

// A cacheWriter makes a file of the cache while its content comes. It holds up to most bytes; what is longer it
// writes to the disk as it comes. Writing never fails: what cannot be cached [cacheWriter.finish] does not
// return.
type CacheWriter struct {
	M    *DB
	File string
	Most int
	held bytes.Buffer // all of the content, while it is short
	f    *os.File     // a temporary file, as soon as it is long
	sum  *objects.Hasher
	long int64 // bytes that were written to f
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

// begin makes the temporary file and moves into it what was held.
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
		w.err = os.ErrNotExist // it was dropped, and nothing of before may come into the new one
		return
	}
	_, w.err = w.f.Write(make([]byte, CacheHead)) // becomes the sum at the end
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

// Finish puts the file in its place and opens its content. It returns nil if that is long and could not be written.
func (w *CacheWriter) Finish() io.ReadCloser {
	if w.sum == nil {
		w.M.WriteCacheBytes(w.File, w.held.Bytes())
		return io.NopCloser(bytes.NewReader(w.held.Bytes()))
	}
	if w.err == nil {
		_, w.err = w.f.WriteAt([]byte(w.sum.Sum().String()+"\n"), 0)
	}
	if w.err == nil {
		w.err = w.f.Close() // some systems do not move a file that is open
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

// Drop removes what was begun.
func (w *CacheWriter) Drop() {
	if w.f != nil {
		w.f.Close()           // perhaps again; what was written is of no use
		os.Remove(w.f.Name()) // else it is evicted
	}
}
