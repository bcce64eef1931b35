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

// sumSuffix is the suffix of the file with the checksum of the settings, in the format of sha256sum.
const sumSuffix = ".sum"

// ErrSum means that the settings differ from those that mem wrote, and were not edited since.
var ErrSum = errors.New("its checksum does not match")

func sumLine(file string, b []byte) []byte {
	return fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(b), filepath.Base(file))
}

// Damaged compares file with its checksum and, if they do not match, calls fn with the damage while the settings are
// locked. Users edit settings by hand, so a file that is newer than its checksum, or has none, is not damaged. The
// damage wraps [ErrSum] if the file or its checksum is damaged. The error is that of fn, or [ErrLocked] when ctx ends
// first.
func Damaged(ctx context.Context, file string, fn func(damage error) error) error {
	switch err := checkSum(file); {
	case err == nil:
		return nil
	case !errors.Is(err, ErrSum):
		return fn(err)
	}
	return withLock(ctx, file, func() error { // another process may just have written the file, but not yet its checksum
		if err := checkSum(file); err != nil {
			return fn(err)
		}
		return nil
	})
}

func checkSum(file string) error {
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

// Replace writes b as the settings in file, with its checksum. Only the callback of [Damaged] may call it.
func Replace(file string, b []byte) error {
	if _, err := Parse(b); err != nil {
		return err
	}
	if err := replace(file, b); err != nil {
		return err
	}
	return replace(file+sumSuffix, sumLine(file, b))
}
