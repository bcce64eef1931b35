package pack

import (
	"bytes"
	"errors"
	"fmt"
	"os"
)

// ErrNotFile says that something lies where a file should be: a link, a pipe, a device, a directory.
var ErrNotFile = errors.New("not a regular file")

// OpenFile opens a file of the store to be read. What is no regular file is refused with [ErrNotFile] without
// being opened: a link could lead anywhere, and a pipe would wait for ever.
func OpenFile(path string) (*os.File, error) {
	f, _, err := openFile(path)
	return f, err
}

// openFile is OpenFile and says how long the file is.
func openFile(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		if noFollow != 0 && errors.Is(err, os.ErrNotExist) {
			return nil, 0, err // a link that leads nowhere is another error
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

func notFile(fi os.FileInfo) error { return fmt.Errorf("%s, %w", KindOf(fi), ErrNotFile) }

// KindOf says in words what lies somewhere: a file, a symbolic link, a device.
func KindOf(fi os.FileInfo) string {
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

// CheckFile refuses what is no regular file with [ErrNotFile], for those who open a file in another way than
// [OpenFile]. It is fine if nothing is there.
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

// ReadFile reads a file of the store whole, as [OpenFile] opens it.
func ReadFile(path string) ([]byte, error) {
	f, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(int(min(size, MaxSize)) + bytes.MinRead) // so that the end is seen without more room
	_, err = b.ReadFrom(f)
	return b.Bytes(), errors.Join(err, f.Close())
}
