package hooks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/refs/disk"
)

// withDir calls write, which writes file, and once more with the directory created if it did not exist.
func withDir(file string, write func() error) error {
	err := write()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return write()
}

// overwrite writes a small file whose readers detect a torn one. It does not truncate the file first: some file
// systems flush a file on close if it was truncated, and the hook would wait for that.
func overwrite(file string, b []byte) error { return writeFile(file, 0, b) }

// writeFile opens file with additional flags (os.O_APPEND, os.O_EXCL or 0) and writes b in one piece.
func writeFile(file string, flags int, b []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|noFollow|flags, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil && flags == 0 {
		err = f.Truncate(int64(len(b)))
	}
	return errors.Join(err, f.Close())
}

// appendRotated appends b to a file, after it has renamed a file of more than limit bytes to file.1.
func appendRotated(file string, limit int64, b []byte) error {
	if fi, err := os.Lstat(file); err == nil && fi.Size() > limit {
		rotate(file, limit)
	}
	return writeFile(file, os.O_APPEND, b)
}

// rotate renames a file of more than limit bytes to file.1. It does nothing if another hook rotates the file or has
// just done so. A file that cannot be renamed grows on.
func rotate(file string, limit int64) {
	unlock, ok, err := disk.TryLock(file + ".lock")
	if err != nil || !ok {
		return
	}
	defer unlock()
	if fi, err := os.Lstat(file); err == nil && fi.Size() > limit {
		_ = os.Rename(file, file+".1") // as above
	}
}

// countFiles returns how many files of a directory match a pattern: none if it cannot be read.
func countFiles(dir, pattern string) int {
	files, err := disk.Match(dir, pattern)
	if err != nil {
		return 0
	}
	return len(files)
}

// remove removes a file. It is no error if another process was faster.
func remove(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
