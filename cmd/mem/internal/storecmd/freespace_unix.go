//go:build linux || darwin

package storecmd

import (
	"errors"
	"syscall"
)

// MayWrite reports why the user may not make a file in dir.
func MayWrite(dir string) error {
	const writeAndEnter = 2 | 1
	return syscall.Access(dir, writeAndEnter)
}

// IsReadOnlyDisk reports whether err is of a disk that takes no writes from anybody.
func IsReadOnlyDisk(err error) bool { return errors.Is(err, syscall.EROFS) }

// FreeSpace returns the bytes that the user may still write to the disk of dir.
func FreeSpace(dir string) (uint64, bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true
}
