package engines

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the program the leader of a process group.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// endGroup ends the program. Windows has no way to ask a group.
func endGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// killGroup has nothing left to do.
func killGroup(*exec.Cmd) {}
