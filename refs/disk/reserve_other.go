//go:build !linux

package disk

import "os"

// Allocate sets the size of a file and allocates all its blocks.
func Allocate(f *os.File, size int64) error { return writeZeros(f, size) }
