//go:build unix

package pack

import "syscall"

// noFollow keeps the last part of a path from being a link, and opening from waiting for a writer.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
