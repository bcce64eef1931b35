package disk

import (
	"errors"
	"os"
	"syscall"
)

// Allocate sets the size of a file and allocates all its blocks.
func Allocate(f *os.File, size int64) error {
	for {
		err := syscall.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOSYS):
			return writeZeros(f, size)
		}
		return err
	}
}
