//go:build unix

package hooks

import "syscall"

// noFollow keeps a symbolic link that somebody laid from being written through, and a FIFO from blocking.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// strictDirs says that a directory can be flushed.
const strictDirs = true
