//go:build unix

package pack

import "syscall"

// noFollow makes opening fail for a symbolic link, and not wait for the writer of a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
