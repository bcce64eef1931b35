package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs/disk"
)

// Notes that cannot be written to the spool (the disk is full or read-only, the directory is damaged) are written to a
// directory in the system's temporary one, which may be on another disk. The next hook that gets the lock of the spool
// captures them, too.

// fallbackDirOf returns the fallback directory of a store.
func fallbackDirOf(store, temp string) string {
	return filepath.Join(temp, "mem-spool-"+objects.Sum([]byte(store)).String()[:16])
}

func (w *World) fallbackDir() string { return fallbackDirOf(w.Store, w.Temp) }

// writeFallback writes a note with the content b to the fallback directory, durably.
func (w *World) writeFallback(n note, b []byte) error {
	if w.Temp == "" {
		return errors.New("no other directory is writable")
	}
	dir := w.fallbackDir()
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if !isPrivateDir(dir) {
		return fmt.Errorf("%s is not a private directory of this user", dir)
	}
	sync, err := w.writeNote(dir, n, b)
	if err != nil {
		return err
	}
	return errors.Join(sync(), disk.SyncDir(w.Temp))
}

// isPrivateDir reports whether only this user can write to a directory. Its parent is writable by everybody, and a note
// names a file that mem reads.
func isPrivateDir(dir string) bool {
	fi, err := os.Lstat(dir)
	return err == nil && fi.IsDir() && isPrivate(fi)
}

// FallbackNotes returns the fallback directory of a store and the number of notes in it.
func FallbackNotes(store, temp string) (dir string, n int) {
	dir = fallbackDirOf(store, temp)
	if temp == "" || !isPrivateDir(dir) {
		return dir, 0
	}
	return dir, countFiles(dir, "*.note")
}

// waiting returns the number of waiting notes.
func (w *World) waiting() int {
	_, n := FallbackNotes(w.Store, w.Temp)
	return Spooled(w.Store) + n
}
