//go:build !linux

package disk

import "os"

// Allocate gives a file a size and the blocks for all of it.
func Allocate(f *os.File, size int64) error { return fill(f, size) }
