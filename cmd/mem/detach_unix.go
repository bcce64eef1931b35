//go:build unix

package main

import "syscall"

// ownSession lets a process live on when the one that started it, and its terminal, are gone.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
