package disk

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/objects/pack"
)

// Temporary begins the names of temporary files.
const Temporary = ".mem-"

// WriteFile atomically and durably replaces file by one with the content b. A new file has the mode 0600; an existing
// one keeps its mode.
func WriteFile(file string, b []byte) error {
	dir := filepath.Dir(file)
	f, err := os.CreateTemp(dir, Temporary+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if fi, serr := os.Stat(file); err == nil && serr == nil {
		err = f.Chmod(fi.Mode().Perm())
	}
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncDir(dir)
}

// SyncDir makes the names in dir durable.
func SyncDir(dir string) error { return pack.SyncDir(dir) }

// A WriteError means that the store cannot be written: it is full, read-only, locked or broken. Further writes would
// fail too.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// AsWriteError wraps err in a [WriteError], or returns nil if err is nil.
func AsWriteError(err error) error {
	if err == nil {
		return nil
	}
	return &WriteError{err}
}
