package pack

import (
	"os"
	"syscall"
)

// startWriteback starts writing a file to disk up to the byte end, without waiting. It is only an optimisation, so
// errors are ignored.
func startWriteback(f *os.File, end int64) {
	const write = 2 // SYNC_FILE_RANGE_WRITE, which does not make it durable
	c, err := f.SyscallConn()
	if err == nil {
		_ = c.Control(func(fd uintptr) { _ = syscall.SyncFileRange(int(fd), 0, end, write) })
	}
}
