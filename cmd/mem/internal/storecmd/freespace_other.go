//go:build !linux && !darwin

package storecmd

// MayWrite reports no error on this system: writing reports it.
func MayWrite(string) error { return nil }

func IsReadOnlyDisk(error) bool { return false }

// FreeSpace is unknown on this system.
func FreeSpace(string) (uint64, bool) { return 0, false }
