package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	terms "github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/refs/config"
	"golang.org/x/term"
)

// An Env is the environment of one run of mem. Nothing else in this module touches the clock, randomness,
// environment variables, the working directory or a terminal; tests construct their own.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Dir            string                 // relative paths start here
	Getenv         func(string) string    // an empty value means unset
	Environ        func() []string        // the environment of child processes
	Now            func() time.Time       // the time that records get; MEM_NOW fixes it
	Uptime         func() time.Duration   // a monotonic clock, for progress and waiting
	Rand           io.Reader              // only for keys and device ids
	Executable     func() (string, error) // the path of this program
	Hostname       func() (string, error)
	Exit           func(status int) // ends the process at once, for hooks past their time limit
	NoTimeLimit    bool             // hooks have no time limit; for tests
	Term           Term
	Secret         func() ([]byte, error)                // reads a line from the terminal without echo
	Interruptible  func(context.Context) context.Context // the first interrupt cancels its result; nil: interrupts kill
	Yield          func()                                // lowers the priority of this process; nil: not supported

	Opt      Options  // the global options of this run
	Operands []string // the arguments that are not options
	Out      *output  // the results, written to Stdout
	Conf     *config.Config
	Lenient  bool // an invalid setting counts as its default: in hooks, and where it is to be mended
	Paint    *Palette
	Growing  func() // called before the first transcript that has grown is compressed
}

// A Term reports which standard streams are terminals, and the width of the one at Stdout.
type Term struct {
	Stdin, Stdout, Stderr bool
	Width                 func() int // in columns; 0 if unknown
}

// RemovedDir is the value of [Env.Dir] if the working directory was removed.
const RemovedDir = "."

// OsEnv returns the environment of this process.
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
		Yield:         lowerPriority,
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

// interruptDelay is how long a run lasts before it handles interrupts. An earlier interrupt kills the process,
// which is always safe; installing the handler costs more time than a short command takes.
const interruptDelay = 5 * time.Millisecond

// interruptible returns a context that the first interrupt, or closing the terminal, cancels. The second
// interrupt kills the process.
func interruptible(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	time.AfterFunc(interruptDelay, func() {
		interrupts := make(chan os.Signal, 1)
		signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
		if !signal.Ignored(syscall.SIGHUP) { // ignored under nohup
			signal.Notify(interrupts, syscall.SIGHUP)
		}
		<-interrupts
		signal.Stop(interrupts)
		cancel()
	})
	return ctx
}

// NeverExitTwo makes the Go runtime end by a signal instead of exit status 2 after a fatal error or a panic in a
// goroutine. Claude Code reads status 2 as "block".
func NeverExitTwo() { debug.SetTraceback("crash") }

// Path returns name as an absolute path; relative names start at [Env.Dir].
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
	if dir := e.Opt.MemDir; dir != "" {
		dir, err := e.expandHome(dir, "--mem-dir")
		return e.Path(dir), err
	}
	return e.dirOf("MEM_DIR", ".claude-memory")
}

// ClaudeDir returns Claude Code's directory: CLAUDE_CONFIG_DIR or ~/.claude.
func (e *Env) ClaudeDir() (string, error) { return e.dirOf("CLAUDE_CONFIG_DIR", ".claude") }

// dirOf returns the directory that an environment variable names, or else name in the home directory. A variable that
// the settings of Claude Code set is not expanded by any shell, and each session has another working directory. So a
// leading "~" is expanded here, and a relative MEM_DIR is an error: it would be a memory for each directory.
func (e *Env) dirOf(variable, name string) (string, error) {
	value := e.Getenv(variable)
	if value == "" {
		return e.UnderHome(name, variable)
	}
	dir, err := e.expandHome(value, variable)
	if err != nil {
		return "", err
	}
	if variable == "MEM_DIR" && !filepath.IsAbs(dir) {
		return "", WithCode(ExitUsage, WithHint(fmt.Errorf("MEM_DIR is %q, a relative path: each directory would have its own memory",
			value), "set MEM_DIR to an absolute path, or one that begins with ~/"))
	}
	return e.Path(dir), nil
}

// expandHome replaces a leading "~" by the home directory. The home directories of other users are unknown.
func (e *Env) expandHome(dir, source string) (string, error) {
	rest, ok := strings.CutPrefix(dir, "~")
	switch {
	case !ok:
		return dir, nil
	case rest != "" && !os.IsPathSeparator(rest[0]) && rest[0] != '/':
		return "", WithCode(ExitUsage, WithHint(fmt.Errorf("%s is %q: only the own home directory can be abbreviated as ~", source, dir),
			"name the directory by its absolute path"))
	}
	return e.UnderHome(filepath.FromSlash(strings.TrimLeft(rest, `/`)), source)
}

// UnderHome returns the path of name in the user's home directory. If there is no home directory, the error
// suggests setting the environment variable.
func (e *Env) UnderHome(name, variable string) (string, error) {
	home := e.home()
	if home == "" {
		return "", WithHint(fmt.Errorf("there is no home directory"), "set "+variable+" to a directory")
	}
	return filepath.Join(home, name), nil
}
