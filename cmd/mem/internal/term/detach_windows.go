package term

import "syscall"

// detachedProcess starts a process without a console (DETACHED_PROCESS of the Windows API).
const detachedProcess = 0x8

// OwnSession makes a child process survive its parent and the console.
func OwnSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
