//go:build unix

package term

import (
	"syscall"
)

// OwnSession lets a process live on when the one that started it, and its terminal, are gone.
func OwnSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
