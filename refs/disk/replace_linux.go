package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Replace gives the file tmp the name of another one, in one step. It is for what may be lost at a power cut:
// where a rename over a file makes file systems write out what it takes the place of it, two files change
// names, and the old one is removed.
func Replace(tmp, file string) error {
	err := unix.Renameat2(unix.AT_FDCWD, tmp, unix.AT_FDCWD, file, unix.RENAME_EXCHANGE)
	if err != nil { // there is no such file yet, or the file system cannot
		return os.Rename(tmp, file)
	}
	if err = os.Remove(tmp); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
