package disk

import (
	"encoding/binary"
	"errors"
	"os"
	"syscall"
)

// Allocate writes size bytes to a file, which no file system can store in less.
func Allocate(f *os.File, size int64) error {
	block, x := make([]byte, 64<<10), uint64(1)
	for at := int64(0); at < size; at += int64(len(block)) {
		for i := 0; i < len(block); i += 8 { // xorshift
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			binary.LittleEndian.PutUint64(block[i:], x)
		}
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
