//go:build unix

package disk

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// diskQuota is the error of a user's share of a disk that is full.
const diskQuota = syscall.EDQUOT

// CheckPrivate refuses a directory that another user owns or can write to.
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
		return fmt.Errorf("%s: mode %v lets others write to it: %w", dir, fi.Mode().Perm(), ErrUnsafe)
	}
	return nil
}

// SyncDir makes the names in dir durable.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// exposed reports whether a file belongs to another user, and whether others may do anything with it.
func exposed(fi fs.FileInfo) (foreign, open bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	foreign = ok && int(st.Uid) != os.Geteuid()
	return foreign, fi.Mode()&fs.ModeSymlink == 0 && fi.Mode().Perm()&0o077 != 0
}
