package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"unsafe"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
)

// The cache holds what can be computed again. A cached file starts with the BLAKE3 of the rest, so a
// torn or damaged one counts as missing. It is renamed into place but not flushed to the disk.

func (m *DB) CachePath(parts ...string) string {
	return filepath.Join(append([]string{m.Refs.Dir(), "cache"}, parts...)...)
}

// tidyCache takes out of the cache, which may be deleted at any time, what is neither a file nor a directory.
func (m *DB) tidyCache() {
	if fi, err := os.Lstat(m.CachePath()); err == nil && !fi.IsDir() {
		os.Remove(m.CachePath()) // if it stays there is no cache
		return
	}
	entries, err := os.ReadDir(m.CachePath())
	if err != nil {
		return
	}
	for _, e := range entries {
		if t := e.Type(); t != 0 && t != os.ModeDir {
			os.Remove(m.CachePath(e.Name())) // as above
		}
	}
}

// ReadCache reads what writeCache wrote into v and reports whether it could.
func ReadCache(file string, v any) bool {
	b, ok := ReadCacheBytes(file)
	return ok && json.Unmarshal(b, v) == nil
}

func ReadCacheBytes(file string) ([]byte, bool) {
	b, err := pack.ReadFile(file)
	if errors.Is(err, pack.ErrNotFile) {
		os.RemoveAll(file) // else nothing can take its place
	}
	if err != nil {
		return nil, false // no cache: compute it
	}
	sum, rest, ok := bytes.Cut(b, []byte("\n"))
	return rest, ok && string(sum) == objects.Sum(rest).String()
}

// DecodeCache reads with fill what was written as encode returns it, and reports whether it could. What fill
// keeps is good only then.
func DecodeCache(file string, fill func(*records.Codec)) bool {
	s, ok := ReadCacheText(file)
	return ok && Decode(s, fill)
}

// ReadCacheText is readCacheBytes for what words are cut out of: it is not copied to be text.
func ReadCacheText(file string) (string, bool) {
	b, ok := ReadCacheBytes(file)
	return unsafe.String(unsafe.SliceData(b), len(b)), ok // nobody else has b, so that it stays as it is
}

// WriteCache stores v. A store that cannot be written works without a cache, so nothing is returned.
func (m *DB) WriteCache(file string, v any) {
	if b, err := json.Marshal(v); err == nil {
		m.WriteCacheBytes(file, b)
	}
}

func (m *DB) WriteCacheBytes(file string, b []byte) {
	if os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".tmp-*")
	if err != nil {
		return
	}
	_, err = f.Write(append([]byte(objects.Sum(b).String()+"\n"), b...))
	if errors.Join(err, f.Close()) != nil || !m.SameCache() || disk.Replace(f.Name(), file) != nil {
		os.Remove(f.Name()) // it is only a cache; the next writer tries again
		return
	}
	m.grew(int64(CacheHead + len(b)))
}

// openCache remembers which directory the cache is. While it is open no other can be taken for it.
func (m *DB) openCache() {
	m.tidyCache()
	dir, err := os.Open(m.CachePath())
	if errors.Is(err, os.ErrNotExist) && os.MkdirAll(m.CachePath(), 0o700) == nil {
		dir, err = os.Open(m.CachePath())
	}
	if err == nil {
		m.cache, _ = dir.Stat() // without it nothing is cached
	}
	m.CacheDir = dir
}

// SameCache reports whether the cache is still the directory it was when m was opened. Since then another
// process may have dropped it to forget something, which what m has read can hold. Asked between making a file
// there and renaming it: what was made in the directory that is dropped goes with it.
func (m *DB) SameCache() bool {
	fi, err := os.Lstat(m.CachePath())
	return err == nil && m.cache != nil && os.SameFile(fi, m.cache)
}

// DropCache takes the cache away, whole, and begins it anew. It is moved first, so that other processes, which
// may write there at any time, write no more. Only who holds the lock of forgetting may drop it.
func (m *DB) DropCache() error {
	if m.CacheDir != nil {
		m.CacheDir.Close() // opened to be known again, nothing else
	}
	gone := m.CachePath() + ".gone"
	err := removeAll(gone) // of one that was killed here
	if err == nil {
		err = os.Rename(m.CachePath(), gone)
	}
	switch {
	case err == nil:
		err = removeAll(gone)
	case errors.Is(err, os.ErrNotExist):
		err = nil
	default: // some systems do not move a directory that somebody has open
		err = removeAll(m.CachePath())
	}
	m.openCache()
	return err
}

// removeAll removes dir, again if others still wrote there.
func removeAll(dir string) (err error) {
	for range 100 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
	}
	return err
}
