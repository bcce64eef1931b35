package disk

import (
	"errors"
	"os"
	"syscall"
)

// writeZeros writes size zero bytes to a file.
func writeZeros(f *os.File, size int64) error {
	block := make([]byte, 64<<10)
	for at := int64(0); at < size; at += int64(len(block)) {
		if _, err := f.WriteAt(block[:min(int64(len(block)), size-at)], at); err != nil {
			return err
		}
	}
	return nil
}

// IsFull reports whether an error means that the disk or the user's quota is full.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, errQuota)
}
