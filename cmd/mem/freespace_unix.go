//go:build linux || darwin

package main

import (
	"errors"
	"syscall"
)

// mayWrite reports why the user may not make a file in dir.
func mayWrite(dir string) error {
	const writeAndEnter = 2 | 1
	return syscall.Access(dir, writeAndEnter)
}

// isReadOnlyDisk reports whether err is of a disk that takes no writes from anybody.
func isReadOnlyDisk(err error) bool { return errors.Is(err, syscall.EROFS) }

// freeSpace returns the bytes that the user may still write to the disk of dir.
func freeSpace(dir string) (uint64, bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true
}
