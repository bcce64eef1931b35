package state

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
)

// The cache contains what can be computed again. A cached file starts with the BLAKE3 hash of the rest, so that a torn
// or damaged one counts as missing. It is renamed into place but not synced.

// CachePath returns the path of a file or directory in the cache.
func (m *DB) CachePath(parts ...string) string {
	return filepath.Join(append([]string{m.Refs.Dir(), "cache"}, parts...)...)
}

// tidyCache deletes entries of the cache that are neither files nor directories.
func (m *DB) tidyCache() {
	if fi, err := os.Lstat(m.CachePath()); err == nil && !fi.IsDir() {
		os.Remove(m.CachePath()) // if this fails there is no cache
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

// ReadCacheBytes returns the content of a file written by [DB.WriteCacheBytes]; ok is false if it is missing or
// damaged.
func ReadCacheBytes(file string) ([]byte, bool) {
	b, err := pack.ReadFile(file)
	if errors.Is(err, pack.ErrNotFile) {
		os.RemoveAll(file) // otherwise no file could replace it
	}
	if err != nil {
		return nil, false // no cache: compute it
	}
	sum, rest, ok := bytes.Cut(b, []byte("\n"))
	return rest, ok && string(sum) == objects.Sum(rest).String()
}

// ReadCache reads a file written by [DB.WriteCache] into v, a pointer to a zero value, and reports whether it could. If
// it could not, v is not valid.
func ReadCache(file string, version int, v any) bool {
	b, ok := ReadCacheBytes(file)
	return ok && Decode(b, version, v)
}

// WriteCache stores v, a pointer, as [Encode] does. It returns no error: a store that cannot be written works without a
// cache.
func (m *DB) WriteCache(file string, version int, v any) { m.WriteCacheBytes(file, Encode(version, v)) }

// WriteCacheBytes stores b, like [DB.WriteCache].
func (m *DB) WriteCacheBytes(file string, b []byte) {
	if os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".tmp-*")
	if err != nil {
		return
	}
	_, err = f.WriteString(objects.Sum(b).String() + "\n")
	_, werr := f.Write(b)
	if errors.Join(err, werr, f.Close()) != nil || !m.SameCache() || os.Rename(f.Name(), file) != nil {
		os.Remove(f.Name()) // it is only a cache; the next writer tries again
		return
	}
	m.grew(int64(2*objects.Size + 1 + len(b)))
}

// openCache opens the directory of the cache to recognise it later: while it is open, no other directory gets its
// identity.
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

// SameCache reports whether the cache is still the directory that m opened. Another process may have dropped it to
// delete text that m has read since. Call it between creating a file in the cache and renaming it: a file created in a
// dropped directory is deleted with it.
func (m *DB) SameCache() bool {
	fi, err := os.Lstat(m.CachePath())
	return err == nil && m.cache != nil && os.SameFile(fi, m.cache)
}

// DropCache deletes the cache and creates an empty one. It moves the directory first, so that other processes cannot
// write to it any more. The caller must have the lock of [refs.Repo.LockForget].
func (m *DB) DropCache() error {
	if m.CacheDir != nil {
		m.CacheDir.Close() // it was only opened to be recognised
	}
	gone := m.CachePath() + ".gone"
	err := removeAll(gone) // left by a process that was killed here
	if err == nil {
		err = os.Rename(m.CachePath(), gone)
	}
	switch {
	case err == nil:
		err = removeAll(gone)
	case errors.Is(err, os.ErrNotExist):
		err = nil
	default: // some systems cannot move an open directory
		err = removeAll(m.CachePath())
	}
	m.openCache()
	return err
}

// removeAll removes dir. It tries again if others still write there.
func removeAll(dir string) (err error) {
	for range 100 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
	}
	return err
}
