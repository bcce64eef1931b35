//go:build unix

package secrets

import (
	"syscall"
)

// Nonblock keeps opening a FIFO from waiting for a writer.
const Nonblock = syscall.O_NONBLOCK
