package disk

import (
	"io/fs"
	"os"
	"syscall"
)

// diskQuota is the error of a disk that is full, as Windows says it.
const diskQuota = syscall.Errno(112)

// CheckPrivate checks that dir is there: the profile's access list keeps other users out.
func CheckPrivate(dir string) error {
	_, err := os.Stat(dir)
	return err
}

// SyncDir does nothing: NTFS journals names itself and directories cannot be flushed.
func SyncDir(string) error { return nil }

// exposed reports nothing: the directory's access list, which is the user's own, decides here.
func exposed(fs.FileInfo) (foreign, open bool) { return false, false }
