package pack

import (
	"os"
	"syscall"
)

// startWrite lets the disk begin to take in a file up to a byte, without waiting for it. If it does not, the
// wait at the end is longer.
func startWrite(f *os.File, end int64) {
	const write = 2 // SYNC_FILE_RANGE_WRITE, which says nothing about whether it is durable
	c, err := f.SyscallConn()
	if err == nil {
		_ = c.Control(func(fd uintptr) { _ = syscall.SyncFileRange(int(fd), 0, end, write) }) // as above
	}
}
