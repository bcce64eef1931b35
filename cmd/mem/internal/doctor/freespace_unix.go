//go:build linux || darwin

package doctor

import (
	"errors"
	"syscall"
)

// mayWrite returns an error if the user may not create files in dir.
func mayWrite(dir string) error {
	const writeAndEnter = 2 | 1
	return syscall.Access(dir, writeAndEnter)
}

// isReadOnlyDisk reports whether err is of a read-only file system.
func isReadOnlyDisk(err error) bool { return errors.Is(err, syscall.EROFS) }

// freeSpace returns the number of bytes that the user may write to the file system of dir.
func freeSpace(dir string) (uint64, bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true
}
