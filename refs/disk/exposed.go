package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// An Exposure counts the files of a store that other users could read or change.
type Exposure struct {
	Open    int    // files and directories that others may read or write
	Foreign int    // those that belong to another user
	First   string // one of them
}

// Exposed checks every file of the store in dir: all must belong to the user, directories with mode 0700, files with
// 0600. With fix it removes the permissions of others; it does not change owners. Symbolic links are not followed.
func Exposed(dir string, fix bool) (Exposure, error) {
	var out Exposure
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil // removed meanwhile
		}
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		foreign, open := permissions(fi)
		if !foreign && !open {
			return nil
		}
		if out.First == "" {
			out.First = fmt.Sprintf("%s: %v", path, fi.Mode())
		}
		if foreign {
			out.Foreign++
			return nil
		}
		if out.Open++; fix {
			return os.Chmod(path, fi.Mode().Perm()&0o700)
		}
		return nil
	})
	return out, err
}
