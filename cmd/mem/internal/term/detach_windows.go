package term

import "syscall"

// detachedProcess keeps a process without a console (DETACHED_PROCESS of the Windows API).
const detachedProcess = 0x8

// OwnSession lets a process live on when the one that started it, and its console, are gone.
func OwnSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
