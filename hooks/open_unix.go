//go:build unix

package hooks

import (
	"os"
	"syscall"
)

// noFollow keeps a symbolic link that somebody laid from being written through, and a FIFO from blocking.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// mine reports whether a file belongs to this user, who alone may look at it.
func mine(fi os.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && fi.Mode().Perm()&0o077 == 0
}
