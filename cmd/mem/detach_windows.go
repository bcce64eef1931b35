package main

import "syscall"

// detachedProcess keeps a process without a console (DETACHED_PROCESS of the Windows API).
const detachedProcess = 0x8

// ownSession lets a process live on when the one that started it, and its console, are gone.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
