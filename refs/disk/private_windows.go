package disk

import (
	"io/fs"
	"os"
	"syscall"
)

// errQuota is ERROR_DISK_FULL.
const errQuota = syscall.Errno(112)

// CheckPrivate checks that dir exists. The access control list of the user's profile keeps other users out.
func CheckPrivate(dir string) error {
	_, err := os.Stat(dir)
	return err
}

// permissions reports false: the access control list of the directory decides here.
func permissions(fs.FileInfo) (foreign, open bool) { return false, false }
