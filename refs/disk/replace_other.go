//go:build !linux

package disk

import "os"

// Replace gives the file tmp the name of another one, in one step. It is for what may be lost at a power cut.
func Replace(tmp, file string) error { return os.Rename(tmp, file) }
