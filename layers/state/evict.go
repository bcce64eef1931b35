package state

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The cache may take [Options.MaxCache]. When a memory is closed, at most once an hour, what was read longest ago goes
// until a tenth of that is free. Whoever reads a file of the cache reads it whole, and a file that is gone is made again,
// so other processes are not disturbed.

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

// EvictSometimes evicts if nobody has for an hour.
func (m *DB) EvictSometimes() {
	if m.Opts.MaxCache <= 0 {
		return
	}
	mark, now := m.CachePath(".evicted"), m.Opts.Now()
	fi, err := os.Stat(mark)
	if err == nil && now.Sub(fi.ModTime()).Abs() < evictEvery {
		return
	}
	f, err := os.OpenFile(mark, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil || errors.Join(f.Close(), os.Chtimes(mark, now, now)) != nil {
		return // a store that cannot be written: its cache does not grow either
	}
	m.EvictCache(false) // what cannot be removed stays; doctor says so
}

type cacheFile struct {
	path string
	size int64
	used time.Time
}

// EvictCache brings the cache under its limit and says what it takes then, without what writers that were killed have left, which goes
// in any case. A dry run only says what would go.
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

// cacheFiles measures the cache, and returns the files of it that may go, and those that were left by writers that were killed.
func (m *DB) cacheFiles(total *CacheSize) (out []cacheFile, left []string, err error) {
	root := m.CachePath()
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
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
		temporary := strings.HasPrefix(d.Name(), ".tmp-")
		if temporary && m.Opts.Now().Sub(fi.ModTime()) > Abandoned {
			left = append(left, path)
			return nil
		}
		total.Files, total.Bytes = total.Files+1, total.Bytes+fi.Size()
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err == nil && slices.Contains(evictable, dir) && !temporary {
			out = append(out, cacheFile{path, fi.Size(), fi.ModTime()})
		}
		return err
	})
	return out, left, err
}
