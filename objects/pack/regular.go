package pack

import (
	"bytes"
	"errors"
	"fmt"
	"os"
)

// ErrNotFile means that a path is not a regular file: a link, a pipe, a device, a directory.
var ErrNotFile = errors.New("not a regular file")

// OpenFile opens a file of the store for reading. It refuses anything but a regular file with [ErrNotFile] without
// opening it: a link could lead anywhere, and a pipe would block.
func OpenFile(path string) (*os.File, error) {
	f, _, err := openFile(path)
	return f, err
}

// openFile is [OpenFile] that also returns the size.
func openFile(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		if noFollow != 0 && errors.Is(err, os.ErrNotExist) {
			return nil, 0, err // for a dangling link the error is ELOOP
		}
		if fi, lerr := os.Lstat(path); lerr == nil && !fi.Mode().IsRegular() {
			return nil, 0, &os.PathError{Op: "open", Path: path, Err: notFile(fi)}
		}
		return nil, 0, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: path, Err: notFile(fi)}
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, fi.Size(), nil
}

func notFile(fi os.FileInfo) error { return fmt.Errorf("%s, %w", FileType(fi), ErrNotFile) }

// FileType describes the type of a file: a file, a symbolic link, a device.
func FileType(fi os.FileInfo) string {
	switch fi.Mode().Type() {
	case 0:
		return "a file"
	case os.ModeSymlink:
		return "a symbolic link"
	case os.ModeNamedPipe:
		return "a named pipe"
	case os.ModeSocket:
		return "a socket"
	case os.ModeDir:
		return "a directory"
	}
	return "a device"
}

// CheckFile returns [ErrNotFile] for anything but a regular file, for callers that do not use [OpenFile]. A missing
// file is no error.
func CheckFile(path string) error {
	fi, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil && !fi.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: path, Err: notFile(fi)}
	}
	return err
}

// ReadFile is [os.ReadFile] for a file of the store; see [OpenFile].
func ReadFile(path string) ([]byte, error) {
	f, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(int(min(size, MaxSize)) + bytes.MinRead) // avoids a reallocation to detect the end
	_, err = b.ReadFrom(f)
	return b.Bytes(), errors.Join(err, f.Close())
}
