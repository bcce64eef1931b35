//go:build !linux

package refs

import "os"

// allocate gives a file a size and the blocks for all of it.
func allocate(f *os.File, size int64) error { return fill(f, size) }
