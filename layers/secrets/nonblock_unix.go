//go:build unix

package secrets

import (
	"syscall"
)

// Nonblock makes opening a FIFO return at once.
const Nonblock = syscall.O_NONBLOCK
