package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Replace atomically renames tmp to file, for data that may be lost in a power cut. On a rename over an existing file
// some file systems flush the new one to disk. Replace avoids that: it exchanges the two names and removes the old
// file.
func Replace(tmp, file string) error {
	err := unix.Renameat2(unix.AT_FDCWD, tmp, unix.AT_FDCWD, file, unix.RENAME_EXCHANGE)
	if err != nil { // file does not exist, or the file system does not support it
		return os.Rename(tmp, file)
	}
	if err = os.Remove(tmp); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
