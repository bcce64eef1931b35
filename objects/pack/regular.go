package pack

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrNotFile says that something lies where a file should be: a link, a pipe, a device, a directory.
var ErrNotFile = errors.New("not a regular file")

// OpenFile opens a file of the store to be read. What is no regular file is refused with [ErrNotFile] without being opened: a
// link could lead anywhere, and a pipe would wait for ever.
func OpenFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		if fi, lerr := os.Lstat(path); lerr == nil && !fi.Mode().IsRegular() {
			return nil, &os.PathError{Op: "open", Path: path, Err: notFile(fi)}
		}
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: path, Err: notFile(fi)}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func notFile(fi os.FileInfo) error {
	what := map[os.FileMode]string{os.ModeSymlink: "a symbolic link", os.ModeNamedPipe: "a named pipe", os.ModeSocket: "a socket", os.ModeDir: "a directory"}[fi.Mode().Type()]
	if what == "" {
		what = "a device"
	}
	return fmt.Errorf("%s, %w", what, ErrNotFile)
}

// ReadFile reads a file of the store whole, as [OpenFile] opens it.
func ReadFile(path string) ([]byte, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	return b, errors.Join(err, f.Close())
}
