package pack

import (
	"os"
	"syscall"
)

// startWrite starts writing a file to disk up to the byte end, without waiting. It is only an optimisation.
func startWrite(f *os.File, end int64) {
	const write = 2 // SYNC_FILE_RANGE_WRITE, which says nothing about whether it is durable
	c, err := f.SyscallConn()
	if err == nil {
		_ = c.Control(func(fd uintptr) { _ = syscall.SyncFileRange(int(fd), 0, end, write) }) // as above
	}
}
