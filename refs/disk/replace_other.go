//go:build !linux

package disk

import "os"

// Replace atomically renames tmp to file, for data that may be lost in a power cut.
func Replace(tmp, file string) error { return os.Rename(tmp, file) }
