package refs

import (
	"io/fs"
	"os"
	"syscall"
)

// diskQuota is the error of a disk that is full, as Windows says it.
const diskQuota = syscall.Errno(112)

// checkPrivate checks that dir is there: the profile's access list keeps other users out.
func checkPrivate(dir string) error {
	_, err := os.Stat(dir)
	return err
}

// syncDir does nothing: NTFS journals names itself and directories cannot be flushed.
func syncDir(string) error { return nil }

// exposed reports nothing: the directory's access list, which is the user's own, decides here.
func exposed(fs.FileInfo) (foreign, open bool) { return false, false }
