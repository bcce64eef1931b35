//go:build linux && amd64

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// A call says how to find the file that a system call changes: the path in one argument, relative to
// the directory in another one (-1: the working directory), or an open file (path -1).
type call struct {
	name    string
	dir     int
	path    int
	onlyNew int // the argument with flags that must contain O_CREAT or O_TRUNC, 0 for none
}

const (
	sysRenameat2     = 316
	sysCopyFileRange = 326
)

var calls = map[uint64]call{
	syscall.SYS_WRITE:           {"write", 0, -1, 0},
	syscall.SYS_PWRITE64:        {"pwrite", 0, -1, 0},
	syscall.SYS_WRITEV:          {"writev", 0, -1, 0},
	syscall.SYS_FSYNC:           {"fsync", 0, -1, 0},
	syscall.SYS_FDATASYNC:       {"fdatasync", 0, -1, 0},
	syscall.SYS_FTRUNCATE:       {"ftruncate", 0, -1, 0},
	syscall.SYS_FALLOCATE:       {"fallocate", 0, -1, 0},
	syscall.SYS_FCHMOD:          {"fchmod", 0, -1, 0},
	sysCopyFileRange:            {"copy_file_range", 2, -1, 0},
	syscall.SYS_SENDFILE:        {"sendfile", 0, -1, 0},
	syscall.SYS_TRUNCATE:        {"truncate", -1, 0, 0},
	syscall.SYS_RENAME:          {"rename", -1, 1, 0},
	syscall.SYS_MKDIR:           {"mkdir", -1, 0, 0},
	syscall.SYS_RMDIR:           {"rmdir", -1, 0, 0},
	syscall.SYS_LINK:            {"link", -1, 1, 0},
	syscall.SYS_UNLINK:          {"unlink", -1, 0, 0},
	syscall.SYS_SYMLINK:         {"symlink", -1, 1, 0},
	syscall.SYS_CHMOD:           {"chmod", -1, 0, 0},
	syscall.SYS_OPENAT:          {"openat", 0, 1, 2},
	syscall.SYS_MKDIRAT:         {"mkdirat", 0, 1, 0},
	syscall.SYS_UNLINKAT:        {"unlinkat", 0, 1, 0},
	syscall.SYS_RENAMEAT:        {"renameat", 2, 3, 0},
	sysRenameat2:                {"renameat2", 2, 3, 0},
	syscall.SYS_LINKAT:          {"linkat", 2, 3, 0},
	syscall.SYS_SYMLINKAT:       {"symlinkat", 1, 2, 0},
	syscall.SYS_FCHMODAT:        {"fchmodat", 0, 1, 0},
	syscall.SYS_UTIMENSAT:       {"utimensat", 0, 1, 0},
	syscall.SYS_FCHOWN:          {"fchown", 0, -1, 0},
	syscall.SYS_FCHOWNAT:        {"fchownat", 0, 1, 0},
	syscall.SYS_FSETXATTR:       {"fsetxattr", 0, -1, 0},
	syscall.SYS_LSETXATTR:       {"lsetxattr", -1, 0, 0},
	syscall.SYS_MKNODAT:         {"mknodat", 0, 1, 0},
	syscall.SYS_SETXATTR:        {"setxattr", -1, 0, 0},
	syscall.SYS_CREAT:           {"creat", -1, 0, 0},
	syscall.SYS_OPEN:            {"open", -1, 0, 1},
	syscall.SYS_PWRITEV:         {"pwritev", 0, -1, 0},
	syscall.SYS_SYNC_FILE_RANGE: {"sync_file_range", 0, -1, 0},
}

// target returns the name of the call that a thread is about to make and the file it would change; no
// name if it changes none.
func target(tid int, regs *syscall.PtraceRegs) (name, path string) {
	c, ok := calls[regs.Orig_rax]
	if !ok || c.name == "" {
		return "", ""
	}
	args := [...]uint64{regs.Rdi, regs.Rsi, regs.Rdx, regs.R10, regs.R8, regs.R9}
	if c.path < 0 {
		return c.name, descriptor(tid, args[c.dir])
	}
	if c.onlyNew > 0 && args[c.onlyNew]&(syscall.O_CREAT|syscall.O_TRUNC) == 0 {
		return "", ""
	}
	path = text(tid, args[c.path])
	if filepath.IsAbs(path) {
		return c.name, filepath.Clean(path)
	}
	const here = -100 // AT_FDCWD
	if c.dir < 0 || int32(args[c.dir]) == here {
		return c.name, filepath.Join(link(tid, "cwd"), path)
	}
	if path == "" { // the open file itself
		return c.name, descriptor(tid, args[c.dir])
	}
	return c.name, filepath.Join(descriptor(tid, args[c.dir]), path)
}

func descriptor(tid int, fd uint64) string { return link(tid, fmt.Sprintf("fd/%d", int32(fd))) }

// link reads what the kernel says that a thread's file is; "" for none.
func link(tid int, name string) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", tid, name))
	if err != nil {
		return ""
	}
	return path
}

// text reads a string from a thread's memory, a word at a time because the next page may be missing.
func text(tid int, addr uint64) string {
	var b []byte
	word := make([]byte, 8)
	for len(b) < 4096 {
		n, err := syscall.PtracePeekData(tid, uintptr(addr)+uintptr(len(b)), word)
		if err != nil || n == 0 {
			return ""
		}
		if i := bytes.IndexByte(word[:n], 0); i >= 0 {
			return string(append(b, word[:i]...))
		}
		b = append(b, word[:n]...)
	}
	return ""
}
