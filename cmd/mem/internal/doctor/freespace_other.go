//go:build !linux && !darwin

package doctor

// mayWrite reports no error on this system: writing reports it.
func mayWrite(string) error { return nil }

func isReadOnlyDisk(error) bool { return false }

// freeSpace is unknown on this system.
func freeSpace(string) (uint64, bool) { return 0, false }
