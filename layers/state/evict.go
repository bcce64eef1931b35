package state

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The size of the cache is limited by [Options.MaxCache]. A process trims it once an hour, when it closes the store, and
// each time it has written a tenth of the limit: it deletes the least recently read files until a tenth of the limit is
// free. Other processes are not disturbed, as they make a missing file again.

// evictable are the directories of the cache with a file for each growth point. The others have a file for each
// project, which every command reads.
var evictable = []string{"l1", "counts", "signs", "growing", "traces", "copies"}

const (
	evictEvery = time.Hour
	touchAfter = 24 * time.Hour // the time of a file is updated at most once a day
	// Abandoned is the age from which a temporary file is deleted.
	Abandoned = 24 * time.Hour
)

// A CacheSize is the size of the cache, and the part that eviction freed.
type CacheSize struct {
	Files, Evicted int
	Bytes, Freed   int64
	Max            int64 // 0 is no limit
}

// Touch marks a file of the cache as used, so that it is evicted later.
func (m *DB) Touch(file string) {
	fi, err := os.Stat(file)
	if now := m.Opts.Now(); err == nil && now.Sub(fi.ModTime()) > touchAfter {
		os.Chtimes(file, now, now) // if this fails the file is evicted sooner
	}
}

// EvictSometimes trims the cache if no process did so for an hour, or if this one wrote more than a tenth of its limit.
func (m *DB) EvictSometimes() {
	if m.Opts.MaxCache <= 0 {
		return
	}
	mark, now, wrote := m.CachePath(".evicted"), m.Opts.Now(), m.cacheGrew.Swap(0)
	fi, err := os.Stat(mark)
	if err == nil && now.Sub(fi.ModTime()).Abs() < evictEvery && wrote <= m.Opts.MaxCache/10 {
		return
	}
	if os.WriteFile(mark, nil, 0o600) != nil || os.Chtimes(mark, now, now) != nil {
		return // the store cannot be written, so its cache does not grow
	}
	if _, err := m.EvictCache(false); err != nil { // doctor reports files that cannot be removed
		os.Remove(mark) // the next process tries again
	}
}

// grew records that n bytes were written to the cache. A process that writes much trims it before it ends.
func (m *DB) grew(n int64) {
	if m.cacheGrew.Add(n) > m.Opts.MaxCache/10 {
		m.EvictSometimes()
	}
}

type cacheFile struct {
	path string
	size int64
	used time.Time
}

// EvictCache trims the cache to its limit and returns its size. It deletes the temporary files of killed processes in
// any case, and does not count them. A dry run only measures.
func (m *DB) EvictCache(dryRun bool) (CacheSize, error) {
	out := CacheSize{Max: m.Opts.MaxCache}
	files, left, err := m.cacheFiles(&out)
	for _, file := range left {
		if !dryRun && err == nil {
			err = removed(file)
		}
	}
	if err != nil || out.Max <= 0 || out.Bytes <= out.Max {
		return out, err
	}
	slices.SortFunc(files, func(a, b cacheFile) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path)) })
	for _, f := range files {
		if out.Bytes <= out.Max-out.Max/10 {
			break
		}
		if !dryRun {
			if err := removed(f.path); err != nil {
				return out, err
			}
		}
		out.Files, out.Bytes = out.Files-1, out.Bytes-f.size
		out.Evicted, out.Freed = out.Evicted+1, out.Freed+f.size
	}
	return out, nil
}

// removed removes a file. It is not an error if another process removed it.
func removed(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// cacheFiles measures the cache. It returns the evictable files, and the temporary files of killed processes.
func (m *DB) cacheFiles(total *CacheSize) (out []cacheFile, left []string, err error) {
	err = m.eachCached(func(path, dir string, fi fs.FileInfo) {
		temporary := strings.HasPrefix(fi.Name(), ".tmp-")
		if temporary && m.Opts.Now().Sub(fi.ModTime()) > Abandoned {
			left = append(left, path)
			return
		}
		total.Files, total.Bytes = total.Files+1, total.Bytes+fi.Size()
		if slices.Contains(evictable, dir) && !temporary {
			out = append(out, cacheFile{path, fi.Size(), fi.ModTime()})
		}
	})
	return out, left, err
}

// A CacheDirectory is the size of a directory of the cache, with its subdirectories; "" is the cache itself, without
// subdirectories.
type CacheDirectory struct {
	Name  string
	Files int
	Bytes int64
}

// CacheDirs measures the directories of the cache, sorted by name.
func (m *DB) CacheDirs() (out []CacheDirectory, err error) {
	sums := map[string]CacheDirectory{}
	err = m.eachCached(func(path, dir string, fi fs.FileInfo) {
		top, _, _ := strings.Cut(filepath.ToSlash(dir), "/")
		if top == "." {
			top = ""
		}
		d := sums[top]
		sums[top] = CacheDirectory{top, d.Files + 1, d.Bytes + fi.Size()}
	})
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, sums[name])
	}
	return out, err
}

// eachCached calls f for each file of the cache, with its directory relative to the cache.
func (m *DB) eachCached(f func(path, dir string, fi fs.FileInfo)) error {
	root := m.CachePath()
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		fi, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // evicted by another process
		}
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err == nil {
			f(path, dir, fi)
		}
		return err
	})
}
