//go:build linux && amd64

// Inject runs a command and lets one of its system calls fail.
//
//	inject -dir DIR [-at N -with ENOSPC|EIO|EACCES|EMFILE|KILL] [-log FILE] COMMAND ARG...
//
// It counts, over all threads and children of the command, the system calls that change something
// below DIR. The N-th one is not executed but fails with the given error; with KILL the command
// dies there, before the call. Without -at nothing fails. The calls are written to FILE, one a
// line. The exit status is that of the command, 137 if it was killed.
//
// "strace -e inject" does the same, but counts the calls of every thread apart, so that in a
// program with many threads no number stands for one call.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

func main() {
	var t tracer
	flag.StringVar(&t.dir, "dir", "", "count the calls that change something below this `directory`")
	flag.IntVar(&t.at, "at", 0, "let the call of this `number` fail")
	with := flag.String("with", "EIO", "the `error`, or KILL")
	log := flag.String("log", os.DevNull, "write the calls to this `file`")
	flag.Parse()
	errno, ok := map[string]syscall.Errno{"ENOSPC": syscall.ENOSPC, "EIO": syscall.EIO, "EACCES": syscall.EACCES, "EMFILE": syscall.EMFILE, "KILL": 0}[*with]
	if !ok || t.dir == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(126)
	}
	t.errno = errno
	status, err := t.main(*log, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "inject:", err)
		os.Exit(126)
	}
	os.Exit(status)
}

func (t *tracer) main(log string, argv []string) (int, error) {
	f, err := os.Create(log)
	if err != nil {
		return 0, err
	}
	t.log = bufio.NewWriter(f)
	status, err := t.run(argv)
	return status, errors.Join(err, t.log.Flush(), f.Close())
}

const (
	optExitKill = 0x100000
	waitAll     = 0x40000000
	syscallStop = syscall.SIGTRAP | 0x80
)

// A tracer follows the threads of one command.
type tracer struct {
	dir   string
	at    int
	errno syscall.Errno
	log   *bufio.Writer
	pid   int
	count int
	inner map[int]bool // thread -> is inside a system call
	fails map[int]bool // thread -> the call it is inside of is to fail
}

func (t *tracer) run(argv []string) (int, error) {
	runtime.LockOSThread() // only the thread that started a tracee may trace it
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return 0, err
	}
	p, err := os.StartProcess(path, argv, &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return 0, err
	}
	t.pid, t.inner, t.fails = p.Pid, map[int]bool{}, map[int]bool{}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(t.pid, &ws, 0, nil); err != nil {
		return 0, fmt.Errorf("wait for %s: %w", path, err)
	}
	options := syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | syscall.PTRACE_O_TRACEFORK | syscall.PTRACE_O_TRACEVFORK | optExitKill
	if err := syscall.PtraceSetOptions(t.pid, options); err != nil {
		return 0, fmt.Errorf("trace %s: %w", path, err)
	}
	if err := syscall.PtraceSyscall(t.pid, 0); err != nil {
		return 0, fmt.Errorf("trace %s: %w", path, err)
	}
	return t.follow()
}

// follow waits for the threads to stop and lets them go on, until the command has ended.
func (t *tracer) follow() (int, error) {
	status := -1
	for {
		var ws syscall.WaitStatus
		tid, err := syscall.Wait4(-1, &ws, waitAll, nil)
		if errors.Is(err, syscall.ECHILD) {
			return status, nil
		}
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return status, fmt.Errorf("wait: %w", err)
		}
		switch {
		case ws.Exited() && tid == t.pid:
			status = ws.ExitStatus()
		case ws.Signaled() && tid == t.pid:
			status = 128 + int(ws.Signal())
		case ws.Stopped():
			// A thread may be killed at any moment, so that it cannot be let go on any more.
			if err := syscall.PtraceSyscall(tid, t.stopped(tid, ws)); err != nil && !errors.Is(err, syscall.ESRCH) {
				return status, fmt.Errorf("trace: %w", err)
			}
		}
	}
}

// stopped looks at a thread that stopped and returns the signal to hand to it.
func (t *tracer) stopped(tid int, ws syscall.WaitStatus) (signal int) {
	_, known := t.inner[tid]
	switch s := ws.StopSignal(); {
	case s == syscallStop:
		t.inner[tid] = !t.inner[tid]
		if t.inner[tid] {
			t.enter(tid)
		} else if t.fails[tid] {
			delete(t.fails, tid)
			t.answer(tid)
		}
		return 0
	case s == syscall.SIGTRAP:
		return 0 // a thread or child was made
	case s == syscall.SIGSTOP && !known:
		t.inner[tid] = false
		return 0 // the first stop of a new thread
	default:
		return int(s)
	}
}

// enter counts the call that a thread is about to make, and spoils it if it is the one.
func (t *tracer) enter(tid int) {
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(tid, &regs) != nil {
		return // killed meanwhile
	}
	name, path := target(tid, &regs)
	if name == "" || path != t.dir && !strings.HasPrefix(path, t.dir+"/") {
		return
	}
	t.count++
	mark := ""
	if t.count == t.at {
		mark = "  <-"
		if t.errno == 0 {
			syscall.Kill(t.pid, syscall.SIGKILL) // it is our child and not yet waited for
		} else {
			regs.Orig_rax = ^uint64(0)
			t.fails[tid] = syscall.PtraceSetRegs(tid, &regs) == nil
		}
	}
	fmt.Fprintf(t.log, "%s %s%s\n", name, strings.TrimPrefix(path, t.dir), mark)
}

// answer makes the spoilt call return the error.
func (t *tracer) answer(tid int) {
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(tid, &regs) != nil {
		return // killed meanwhile
	}
	regs.Rax = uint64(-int64(t.errno))
	if err := syscall.PtraceSetRegs(tid, &regs); err != nil {
		fmt.Fprintln(os.Stderr, "inject:", err)
	}
}
