package disk

import (
	"errors"
	"math/rand/v2"
	"os"
	"syscall"
)

// Allocate writes size bytes to a file, which no file system can store in less.
func Allocate(f *os.File, size int64) error {
	block, noise := make([]byte, 64<<10), rand.NewChaCha8([32]byte{})
	for at := int64(0); at < size; at += int64(len(block)) {
		_, _ = noise.Read(block) // never fails
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
