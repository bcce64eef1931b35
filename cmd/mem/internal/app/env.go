package app

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	terms "github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/refs/config"
	"golang.org/x/term"
)

// An Env is the world as a command sees it. Nothing else in this module touches the clock, randomness,
// the environment, the working directory or a terminal. Tests make their own; commands are its methods.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Dir            string                 // the directory that relative paths start from
	Getenv         func(string) string    // an empty value is the same as none
	Environ        func() []string        // for programs that mem starts
	Now            func() time.Time       // the time that is recorded; MEM_NOW fixes it
	Uptime         func() time.Duration   // time that always passes, for progress and waiting
	Rand           io.Reader              // for keys and device ids, and nothing else
	Executable     func() (string, error) // the path of this program
	Hostname       func() (string, error)
	Exit           func(status int) // ends this process at once; hooks have a time limit
	Unhurried      bool             // hooks have no limits of time; for tests
	Term           Term
	Secret         func() ([]byte, error)                // reads a line from the terminal that is not shown there
	Interruptible  func(context.Context) context.Context // one that ends at the first interrupt; nil: interrupts kill
	Yield          func()                                // lowers the priority of this process; nil: it cannot be lowered

	Opt      Options  // the global options of this run
	Operands []string // what the command works on
	Out      *output  // where results go
	Conf     *config.Config
	Paint    *Palette
	Growing  func() // called before the first transcript that has grown is compressed
}

// A Term says which of the standard streams are terminals, and how wide the one of Stdout is.
type Term struct {
	Stdin, Stdout, Stderr bool
	Width                 func() int // 0 if it is not known
}

// RemovedDir is the directory of a run whose directory was removed.
const RemovedDir = "."

// OsEnv is the real world.
func OsEnv() Env {
	start := time.Now()
	dir, err := os.Getwd()
	if err != nil {
		dir = RemovedDir // only commands that need it will fail
	}
	return Env{
		Stdin: os.Stdin, Stdout: terms.Stream{File: os.Stdout}, Stderr: terms.Stream{File: os.Stderr},
		Dir:        dir,
		Getenv:     os.Getenv,
		Environ:    os.Environ,
		Now:        time.Now,
		Uptime:     func() time.Duration { return time.Since(start) },
		Rand:       rand.Reader,
		Executable: os.Executable,
		Hostname:   os.Hostname,
		Exit:       os.Exit,
		Secret:     func() ([]byte, error) { return term.ReadPassword(int(os.Stdin.Fd())) },

		Interruptible: interruptible,
		Yield:         yieldPriority,
		Term: Term{
			Stdin:  term.IsTerminal(int(os.Stdin.Fd())),
			Stdout: term.IsTerminal(int(os.Stdout.Fd())),
			Stderr: term.IsTerminal(int(os.Stderr.Fd())),
			Width:  width,
		},
	}
}

func width() int {
	w, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return w
}

// patience is how long a run must last before an interrupt ends it in good order. One that comes sooner
// kills, as any moment may: listening costs more than a short command takes.
const patience = 5 * time.Millisecond

// interruptible returns a context that ends at the first interrupt, or when the terminal is closed; the second
// one kills.
func interruptible(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	time.AfterFunc(patience, func() {
		interrupts := make(chan os.Signal, 1)
		signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
		if !signal.Ignored(syscall.SIGHUP) { // as "nohup" wants it
			signal.Notify(interrupts, syscall.SIGHUP)
		}
		<-interrupts
		signal.Stop(interrupts)
		cancel()
	})
	return ctx
}

// NeverExitTwo makes the Go runtime die by a signal where it would exit with status 2: at a panic in a
// goroutine and at fatal errors. A panic in a command is caught by [run].
func NeverExitTwo() { debug.SetTraceback("crash") }

// Path returns name as seen from the directory of the run.
func (e *Env) Path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(e.Dir, name)
}

// home returns the user's home directory, "" if there is none.
func (e *Env) home() string {
	if runtime.GOOS == "windows" {
		return e.Getenv("USERPROFILE")
	}
	return e.Getenv("HOME")
}

// MemoryDir returns the directory of the store: --mem-dir, MEM_DIR or ~/.claude-memory.
func (e *Env) MemoryDir() (string, error) {
	for _, dir := range []string{e.Opt.MemDir, e.Getenv("MEM_DIR")} {
		if dir != "" {
			return e.Path(dir), nil
		}
	}
	return e.UnderHome(".claude-memory", "MEM_DIR")
}

// ClaudeDir returns the directory where Claude Code keeps its own files: CLAUDE_CONFIG_DIR or ~/.claude.
func (e *Env) ClaudeDir() (string, error) {
	if dir := e.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return e.Path(dir), nil
	}
	return e.UnderHome(".claude", "CLAUDE_CONFIG_DIR")
}

func (e *Env) UnderHome(name, variable string) (string, error) {
	home := e.home()
	if home == "" {
		return "", WithHint(Fatalf("there is no home directory"), "set "+variable+" to a directory")
	}
	return filepath.Join(home, name), nil
}

// Command prepares another program to run where mem runs, with settings added to its environment.
func (e *Env) Command(ctx context.Context, settings []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = e.Dir
	if e.Environ != nil {
		cmd.Env = append(e.Environ(), settings...)
	}
	return cmd
}
