package disk

import (
	"errors"
	"os"
	"path/filepath"
)

// WriteFile makes file with the content b: durable and whole, or not at all.
func WriteFile(file string, b []byte) error {
	dir := filepath.Dir(file)
	f, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncDir(dir)
}

// A WriteError says that the store could not be written: it is full, read-only, locked or broken. What else was to be
// stored would fare no better.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// Writing marks err, if it is one, as an error of writing the store.
func Writing(err error) error {
	if err == nil {
		return nil
	}
	return &WriteError{err}
}
