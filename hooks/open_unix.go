//go:build unix

package hooks

import (
	"os"
	"syscall"
)

// noFollow prevents writing through a planted symbolic link, and blocking on a FIFO.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// isPrivate reports whether a file belongs to this user and nobody else has access.
func isPrivate(fi os.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && fi.Mode().Perm()&0o077 == 0
}
