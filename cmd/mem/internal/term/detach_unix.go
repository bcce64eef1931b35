//go:build unix

package term

import (
	"syscall"
)

// OwnSession makes a child process survive its parent and the terminal.
func OwnSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
