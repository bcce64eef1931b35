package capture

import (
	"errors"
	"maps"
	"os"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs/disk"
)

// written is the cache of the files that checkouts wrote last. Without it they are replaced only with --force, like
// files of the user.
type written struct {
	Seals   map[string]string  // keyed hashes of the contents by path: plain hashes of exact bytes stay in originals.git
	Resumed map[string]resumed // session files by path
}

// A resumed is what [Resumed] recorded of a file.
type resumed struct {
	Size int64
	Seal string
}

const (
	writtenVersion = 3
	mostWritten    = 2000 // from this number of files on, deleted ones are removed from the cache
)

func readWritten(db *state.DB) *written {
	w := &written{}
	if state.ReadCache(db.CachePath("written"), writtenVersion, w) {
		return w
	}
	return &written{Seals: map[string]string{}, Resumed: map[string]resumed{}}
}

func sealWritten(db *state.DB, path string, sum objects.Hash) string {
	return db.Refs.MAC("file " + path + "\n" + sum.String())
}

// A CheckedOut lists the files and directories that a checkout created.
type CheckedOut struct {
	Files   []string
	Created []string // directories, the outermost first
}

// WriteTree calls f to stage files in the directory dir, and writes them all or none. f returns their names.
func WriteTree(db *state.DB, dir string, force, dryRun bool, f func(*disk.Tree) ([]string, error)) (done CheckedOut,
	err error) {
	w := readWritten(db)
	t, err := disk.OpenTree(dir, disk.TreeOptions{Force: force, DryRun: dryRun,
		Wrote: func(path string, sum objects.Hash) bool {
			return w.Seals[path] == sealWritten(db, path, sum)
		}})
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	names, err := f(t)
	if err != nil {
		return done, err
	}
	err = t.Commit(func(path string, sum objects.Hash) { w.Seals[path] = sealWritten(db, path, sum) })
	if !dryRun {
		w.prune()
		db.WriteCache(db.CachePath("written"), writtenVersion, w)
	}
	if err != nil {
		return done, err
	}
	for _, name := range names {
		done.Files = append(done.Files, t.Path(name))
	}
	done.Created = t.Created()
	return done, nil
}

// Resumed records a session file that was made from memory, so that it is not captured before the session goes on.
func Resumed(db *state.DB, path string, sum objects.Hash) {
	fi, err := os.Stat(path)
	if err != nil {
		return // it is captured
	}
	w := readWritten(db)
	w.Resumed[path] = resumed{fi.Size(), sealWritten(db, path, sum)}
	db.WriteCache(db.CachePath("written"), writtenVersion, w)
}

// isResumed reports whether the file begins with what mem itself made from the session. The client appends to it records
// that are no turns, even if nothing is asked.
func (c *Capture) isResumed() bool {
	r, ok := readWritten(c.M).Resumed[c.src.Path]
	if !ok || r.Size > c.size {
		return false
	}
	h := objects.NewHasher()
	err := copyRange(h, c.File, 0, r.Size)
	return err == nil && sealWritten(c.M, c.src.Path, h.Sum()) == r.Seal
}

// prune removes deleted files if there are many files.
func (w *written) prune() {
	if len(w.Seals) <= mostWritten {
		return
	}
	maps.DeleteFunc(w.Seals, func(path, _ string) bool {
		_, err := os.Lstat(path)
		return err != nil
	})
}
