package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/objects"
)

// Notes that the spool does not take (the disk is full or read-only, the directory is damaged) are left in a
// directory of the system's temporary one, which may lie on another disk. The next hook that gets the lock
// folds them, too.

// strandedIn returns the directory for notes of the store that the store does not take.
func strandedIn(store, temp string) string {
	return filepath.Join(temp, "mem-spool-"+objects.Sum([]byte(store)).String()[:16])
}

func (w *World) strandedDir() string { return strandedIn(w.Store, w.Temp) }

// strand leaves a note of the content b outside the store, durably.
func (w *World) strand(n note, b []byte) error {
	if w.Temp == "" {
		return errors.New("no other directory is writable")
	}
	dir := w.strandedDir()
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if !ownDir(dir) {
		return fmt.Errorf("%s is not a private directory of this user", dir)
	}
	keep, err := w.leaveIn(dir, n, b)
	if err != nil {
		return err
	}
	return errors.Join(keep(), settings.SyncDir(w.Temp))
}

// ownDir reports whether a directory is this user's alone: everybody may write where it lies, and a note names
// a file that is read.
func ownDir(dir string) bool {
	fi, err := os.Lstat(dir)
	return err == nil && fi.IsDir() && mine(fi)
}

// Stranded returns where notes of the store lie that it did not take, and how many.
func Stranded(store, temp string) (dir string, n int) {
	dir = strandedIn(store, temp)
	if temp == "" || !ownDir(dir) {
		return dir, 0
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.note"))
	if err != nil {
		return dir, 0
	}
	return dir, len(files)
}

// waiting returns how many notes wait to be folded in.
func (w *World) waiting() int {
	_, n := Stranded(w.Store, w.Temp)
	return Spooled(w.Store) + n
}
