package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// An Exposure is what others could read or change of a store.
type Exposure struct {
	Open    int    // files and directories that others may read or write
	Foreign int    // those that belong to another user
	First   string // one of them
}

// Exposed looks at every file of the store in dir: all must be the user's own, directories with mode 0700,
// files 0600. With mend it takes from others what they may do; to whom a file belongs it does not change. Links
// are not followed.
func Exposed(dir string, mend bool) (Exposure, error) {
	var out Exposure
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil // gone meanwhile
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
		foreign, open := exposed(fi)
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
		if out.Open++; mend {
			return os.Chmod(path, fi.Mode().Perm()&0o700)
		}
		return nil
	})
	return out, err
}
