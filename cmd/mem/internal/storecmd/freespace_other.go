//go:build !linux && !darwin

package storecmd

// MayWrite does not know here: writing says what is wrong.
func MayWrite(string) error { return nil }

func IsReadOnlyDisk(error) bool { return false }

// FreeSpace does not know here.
func FreeSpace(string) (uint64, bool) { return 0, false }
