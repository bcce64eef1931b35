package disk

import (
	"errors"
	"os"
	"syscall"
)

// fill gives a file a size by writing it.
func fill(f *os.File, size int64) error {
	block := make([]byte, 64<<10)
	for at := int64(0); at < size; at += int64(len(block)) {
		if _, err := f.WriteAt(block[:min(int64(len(block)), size-at)], at); err != nil {
			return err
		}
	}
	return nil
}

// IsFull reports whether a disk, or the user's share of it, is full.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, diskQuota)
}
