package config

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// sumSuffix is behind the name of the file that holds the sum of the settings, as sha256sum writes it.
const sumSuffix = ".sum"

// ErrSum reports that the settings differ from those that mem wrote, without an edit since.
var ErrSum = errors.New("not as it was written: its sum is another")

func sumLine(file string, b []byte) []byte {
	return fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(b), filepath.Base(file))
}

// Damaged compares file with the sum beside it and, if they do not fit, calls fn with what is wrong, while
// nobody else changes the settings. People edit them by hand: a file that was written after its sum is right,
// and so is one without a sum. What is wrong wraps [ErrSum] if the file or its sum is damaged. The error is
// that of fn, or [ErrLocked] when ctx ends first.
func Damaged(ctx context.Context, file string, fn func(damage error) error) error {
	switch err := verify(file); {
	case err == nil:
		return nil
	case !errors.Is(err, ErrSum):
		return fn(err)
	}
	return alone(ctx, file, func() error { // another process may only have been between the file and its sum
		if err := verify(file); err != nil {
			return fn(err)
		}
		return nil
	})
}

func verify(file string) error {
	fi, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file", file)
	}
	si, err := os.Lstat(file + sumSuffix)
	if errors.Is(err, fs.ErrNotExist) || err == nil && fi.ModTime().After(si.ModTime()) {
		return nil
	}
	if err != nil {
		return err
	}
	if !si.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file", file+sumSuffix)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(file + sumSuffix)
	if err == nil && !bytes.Equal(sum, sumLine(file, b)) {
		err = fmt.Errorf("%s: %w", file, ErrSum)
	}
	return err
}

// Mended returns what a damaged file should be: with the one byte put right that makes it fit its sum, which
// search looks for. It reports false if there is none; then it returns the settings as they stand.
func Mended(file string, search func(b []byte, good func([]byte) bool) ([]byte, bool)) ([]byte, bool, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, false, err
	}
	sum, err := os.ReadFile(file + sumSuffix)
	if err != nil {
		return nil, false, err
	}
	fixed, ok := search(b, func(b []byte) bool { return bytes.Equal(sum, sumLine(file, b)) })
	if !ok {
		return b, false, nil
	}
	return fixed, true, nil
}

// Replace writes b as the settings in file, with its sum. It is to be called by what [Damaged] calls.
func Replace(file string, b []byte) error {
	if _, err := Parse(b); err != nil {
		return err
	}
	if err := replace(file, b); err != nil {
		return err
	}
	return replace(file+sumSuffix, sumLine(file, b))
}
