package layers

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
)

// The cache holds what can be computed again. A cached file starts with the BLAKE3 of the rest, so a
// torn or damaged one counts as missing. It is renamed into place but not flushed to the disk.

func (m *Memory) cachePath(parts ...string) string {
	return filepath.Join(append([]string{m.repo.Dir(), "cache"}, parts...)...)
}

// tidyCache takes out of the cache, which may be deleted at any time, what is neither a file nor a directory.
func (m *Memory) tidyCache() {
	if fi, err := os.Lstat(m.cachePath()); err == nil && !fi.IsDir() {
		os.Remove(m.cachePath()) // if it stays there is no cache
		return
	}
	entries, err := os.ReadDir(m.cachePath())
	if err != nil {
		return
	}
	for _, e := range entries {
		if t := e.Type(); t != 0 && t != os.ModeDir {
			os.Remove(m.cachePath(e.Name())) // as above
		}
	}
}

// readCache reads what writeCache wrote into v and reports whether it could.
func readCache(file string, v any) bool {
	b, ok := readCacheBytes(file)
	return ok && json.Unmarshal(b, v) == nil
}

func readCacheBytes(file string) ([]byte, bool) {
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

// writeCache stores v. A store that cannot be written works without a cache, so nothing is returned.
func writeCache(file string, v any) {
	if b, err := json.Marshal(v); err == nil {
		writeCacheBytes(file, b)
	}
}

func writeCacheBytes(file string, b []byte) {
	if os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".tmp-*")
	if err != nil {
		return
	}
	_, err = f.Write(append([]byte(objects.Sum(b).String()+"\n"), b...))
	if errors.Join(err, f.Close()) != nil || os.Rename(f.Name(), file) != nil {
		os.Remove(f.Name()) // it is only a cache; the next writer tries again
	}
}
