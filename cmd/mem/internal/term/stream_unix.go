//go:build !windows

package term

import (
	"errors"
	"os"
	"syscall"
)

// Write writes all of p.
func (s Stream) Write(p []byte) (n int, err error) {
	conn, err := s.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = conn.Write(func(fd uintptr) bool {
		for n < len(p) && failed == nil {
			var m int
			m, failed = syscall.Write(int(fd), p[n:])
			n += max(m, 0)
			if errors.Is(failed, syscall.EINTR) {
				failed = nil
			}
			if errors.Is(failed, syscall.EAGAIN) { // the stream is non-blocking: wait and continue
				failed = nil
				return false
			}
		}
		return true
	})
	if err == nil && failed != nil {
		err = &os.PathError{Op: "write", Path: s.Name(), Err: failed}
	}
	return n, err
}
