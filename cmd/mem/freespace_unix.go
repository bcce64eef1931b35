//go:build linux || darwin

package main

import "syscall"

// freeSpace returns the bytes that the user may still write to the disk of dir.
func freeSpace(dir string) (uint64, bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true
}
