//go:build linux || darwin

package storecmd

import (
	"errors"
	"syscall"
)

// MayWrite returns an error if the user may not create files in dir.
func MayWrite(dir string) error {
	const writeAndEnter = 2 | 1
	return syscall.Access(dir, writeAndEnter)
}

// IsReadOnlyDisk reports whether err is of a read-only file system.
func IsReadOnlyDisk(err error) bool { return errors.Is(err, syscall.EROFS) }

// FreeSpace returns the number of bytes that the user may write to the file system of dir.
func FreeSpace(dir string) (uint64, bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true
}
