package state

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The cache may take [Options.MaxCache]. Whoever has written to it, when it closes the memory or has written a
// tenth of the limit, deletes what was read longest ago until a tenth of the limit is free. Whoever reads a
// file of the cache reads it whole, and a file that is gone is made again, so other processes are not
// disturbed.

// evictable are the directories of the cache that grow with sessions. A file in them belongs to one growth point; the
// others hold a file a project, which every command reads.
var evictable = []string{"l1", "counts", "signs", "growing", "traces"}

const (
	evictEvery = time.Hour
	touchAfter = 24 * time.Hour // a file that was read gets a new time once a day
	Abandoned  = 24 * time.Hour // temporary files that were never renamed
)

// A CacheSize says what the cache takes, and of that what eviction freed.
type CacheSize struct {
	Files, Evicted int
	Bytes, Freed   int64
	Max            int64 // 0 is no limit
}

// Touch notes that a file of the cache is of use.
func (m *DB) Touch(file string) {
	fi, err := os.Stat(file)
	if now := m.Opts.Now(); err == nil && now.Sub(fi.ModTime()) > touchAfter {
		os.Chtimes(file, now, now) // else it is evicted sooner
	}
}

// EvictSometimes evicts if nobody has for an hour, or if the cache may be over its limit: what it took when it
// was measured last and what was written since are in the file that marks when that was. Each process adds to
// that file what it wrote, so that a cache in which many processes write is measured as soon as their sum is
// over the limit.
func (m *DB) EvictSometimes() {
	if m.Opts.MaxCache <= 0 {
		return
	}
	mark, now, wrote := m.CachePath(".evicted"), m.Opts.Now(), m.cacheGrew.Swap(0)
	fi, err := os.Stat(mark)
	if err == nil && now.Sub(fi.ModTime()).Abs() < evictEvery && !m.overLimit(mark, wrote) {
		return
	}
	f, err := os.OpenFile(mark, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil || errors.Join(f.Close(), os.Chtimes(mark, now, now)) != nil {
		return // a store that cannot be written: its cache does not grow either
	}
	size, err := m.EvictCache(false) // what cannot be removed stays; doctor says so
	if err != nil || os.WriteFile(mark, fmt.Appendf(nil, "%d\n", size.Bytes), 0o600) != nil ||
		os.Chtimes(mark, now, now) != nil {
		os.Remove(mark) // the next one measures again
	}
}

// overLimit adds what was written to the file of the last measurement, and reports whether the sum is over the
// limit. A file that cannot be read is no measurement.
func (m *DB) overLimit(mark string, wrote int64) bool {
	if wrote == 0 {
		return false
	}
	f, err := os.OpenFile(mark, os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return true
	}
	defer f.Close() // a lost line is measured an hour later
	fi, err := f.Stat()
	if err != nil {
		return true
	}
	const line = 16 // at most, and in the cache as well
	if _, err := fmt.Fprintf(f, "%d\n", wrote+line); err != nil {
		return true
	}
	at := fi.ModTime()
	if err := os.Chtimes(mark, at, at); err != nil { // the time is that of the measurement
		return true
	}
	b, err := os.ReadFile(mark)
	if err != nil || len(b) == 0 {
		return true
	}
	var sum int64
	for line := range strings.Lines(string(b)) {
		n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil || n < 0 {
			return true
		}
		sum += n
	}
	return sum > m.Opts.MaxCache
}

// grew notes that n bytes were written to the cache, perhaps over others. A process that writes much does not
// wait until it ends.
func (m *DB) grew(n int64) {
	if m.cacheGrew.Add(n) > max(m.Opts.MaxCache/10, 1) && m.Opts.MaxCache > 0 {
		m.EvictSometimes()
	}
}

type cacheFile struct {
	path string
	size int64
	used time.Time
}

// EvictCache brings the cache under its limit and says what it takes then, without what writers that were
// killed have left, which goes in any case. A dry run only says what would go.
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

// removed removes a file that another process may remove, too.
func removed(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// cacheFiles measures the cache, and returns the files of it that may go, and those that were left by writers
// that were killed.
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

// A CacheDirectory is one directory of the cache, with those below it; "" is the top of the cache, without its
// directories.
type CacheDirectory struct {
	Name  string
	Files int
	Bytes int64
}

// CacheDirs measures the directories of the cache, in the order of their names.
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

// eachCached calls f for every file of the cache, with the directory of the cache that it is in.
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
