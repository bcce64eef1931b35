package app

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"syscall"

	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// ErrStdoutClosed is returned by writes after the reader of stdout has exited, as in "mem log | head". It is not
// a failure.
var ErrStdoutClosed = errors.New("standard output is closed")

// An output buffers results for stdout: by line on a terminal, else in blocks. After the reader has exited,
// every write fails with [ErrStdoutClosed].
type output struct {
	buf   *bufio.Writer
	tty   bool
	pager *pager
	fail  error
}

// NewOutput returns an output that writes to w.
func NewOutput(w io.Writer, tty bool) *output {
	return &output{buf: bufio.NewWriterSize(w, 64<<10), tty: tty}
}

// Write adds p to the results.
func (o *output) Write(p []byte) (int, error) {
	if o.fail != nil {
		return 0, o.fail
	}
	n, err := o.buf.Write(p)
	if err == nil && o.tty && o.pager == nil && bytes.IndexByte(p, '\n') >= 0 {
		err = o.buf.Flush()
	}
	return n, o.note(err)
}

// Flush writes the buffered results.
func (o *output) Flush() error {
	if o.fail != nil {
		return o.fail
	}
	return o.note(o.buf.Flush())
}

// Close writes the buffered results and waits for the pager to exit.
func (o *output) Close() error {
	err := o.Flush()
	if o.pager == nil {
		return err
	}
	if broken := o.pager.close(); broken != nil {
		return broken // may be the reason for err
	}
	return err
}

// note stores the first write error, for later writes to return.
func (o *output) note(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe), gone(err):
		o.fail = ErrStdoutClosed
	default:
		o.fail = fmt.Errorf("write the answer: %w", err)
	}
	return o.fail
}

// gone reports whether err means on Windows that the reader has closed the pipe.
func gone(err error) bool {
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232)
	return runtime.GOOS == "windows" && (errors.Is(err, brokenPipe) || errors.Is(err, noData))
}

// Printf writes to stdout. A write error is reported when the command ends.
func (e *Env) Printf(format string, args ...any) { fmt.Fprintf(e.Out, format, args...) }

// Diff prints a line of a unified diff in its colour.
func (e *Env) Diff(line string) {
	paint := func(s string) string { return s }
	switch style := e.Style(); {
	case strings.HasPrefix(line, "-"):
		paint = style.Red
	case strings.HasPrefix(line, "+"):
		paint = style.Green
	case strings.HasPrefix(line, "@"):
		paint = style.Cyan
	}
	e.Printf("%s\n", paint(e.Safe(line)))
}

// Report prints the outcome of a command that writes, or with -n what it would do. With -q it prints nothing.
func (e *Env) Report(format string, args ...any) {
	if !e.Opt.Quiet || e.Opt.DryRun {
		e.Printf(format, args...)
	}
}

// Note prints a message to stderr, unless -q is given.
func (e *Env) Note(format string, args ...any) {
	if !e.Opt.Quiet {
		e.Message(format, args...)
	}
}

// Verb returns done, or with -n would.
func (e *Env) Verb(done, would string) string {
	if e.Opt.DryRun {
		return would
	}
	return done
}

// Did prints the answer of a command that changes one thing: a note, or with --json the members and "dryRun".
func (e *Env) Did(what string, members Object, format string, args ...any) error {
	if e.Opt.JSON {
		return e.PrintJSON(what, nil, append(members, "dryRun", e.Opt.DryRun)...)
	}
	e.Note(format, args...)
	return nil
}

// Detail prints a note if -v is given.
func (e *Env) Detail(format string, args ...any) {
	if e.Opt.Verbose {
		e.Note(format, args...)
	}
}

// Warn prints a warning to stderr.
func (e *Env) Warn(format string, args ...any) {
	e.Message(e.StderrStyle().Yellow("warning:")+" "+format, args...)
}

// Message prints one line to stderr. It sanitises the arguments that are strings or errors.
func (e *Env) Message(format string, args ...any) {
	for i, a := range args {
		switch s := a.(type) {
		case string:
			args[i] = term.SanitizeLine(s)
		case error:
			args[i] = term.SanitizeLine(s.Error())
		}
	}
	fmt.Fprintf(e.Stderr, format+"\n", args...)
}

// Hint prints a next step to stderr, unless -q or --json is given or MEM_ADVICE is 0.
func (e *Env) Hint(format string, args ...any) {
	if e.Getenv("MEM_ADVICE") != "0" && !e.Opt.JSON {
		e.Note(e.StderrStyle().Yellow("hint:")+" "+format, args...)
	}
}

// Typed returns a command as a person types it to work on the project of this run.
func (e *Env) Typed(words ...string) string {
	if e.Opt.Project != "" {
		words = append(words, "-p", e.Opt.Project)
	}
	return term.Shell(words...)
}
