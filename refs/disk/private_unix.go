//go:build unix

package disk

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// errQuota is the error for an exhausted quota.
const errQuota = syscall.EDQUOT

// CheckPrivate returns an error that wraps [ErrUnsafe] if another user owns dir or can write to it.
func CheckPrivate(dir string) error {
	fi, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return fmt.Errorf("%s: not a directory: %w", dir, ErrNotRepo)
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s: owned by user %d: %w", dir, st.Uid, ErrUnsafe)
	}
	if fi.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s: writable by other users (mode %v): %w", dir, fi.Mode().Perm(), ErrUnsafe)
	}
	return nil
}

// permissions reports whether a file belongs to another user, and whether others have any permission for it.
func permissions(fi fs.FileInfo) (foreign, open bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	foreign = ok && int(st.Uid) != os.Geteuid()
	return foreign, fi.Mode()&fs.ModeSymlink == 0 && fi.Mode().Perm()&0o077 != 0
}
