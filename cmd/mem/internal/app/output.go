package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"syscall"

	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// ErrStdoutClosed says that whoever read the results has gone. That is no failure: "mem log | head".
var ErrStdoutClosed = errors.New("standard output is closed")

// An output carries results to stdout. A terminal gets them line by line, anything else in blocks.
// After the reader has gone every write fails with [errStdoutClosed].
type output struct {
	buf   *bufio.Writer
	tty   bool
	pager *pager
	fail  error
}

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

// Flush sends on what was written so far.
func (o *output) Flush() error {
	if o.fail != nil {
		return o.fail
	}
	return o.note(o.buf.Flush())
}

// Close sends on the rest, and waits for the reader at the pager.
func (o *output) Close() error {
	err := o.Flush()
	if o.pager == nil {
		return err
	}
	if broken := o.pager.close(); broken != nil {
		return broken // which may be why nobody reads
	}
	return err
}

// note remembers how writing failed, if it did.
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

// gone reports whether err is how Windows says that nobody reads a pipe any more.
func gone(err error) bool {
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232)
	return runtime.GOOS == "windows" && (errors.Is(err, brokenPipe) || errors.Is(err, noData))
}

// Printf writes to stdout. That it failed is noticed when the command ends.
func (e *Env) Printf(format string, args ...any) { fmt.Fprintf(e.Out, format, args...) }

// Did prints what a command that changes something has done, or with -n would do. With -q silence is success.
func (e *Env) Did(format string, args ...any) {
	if !e.Opt.Quiet || e.Opt.DryRun {
		e.Printf(format, args...)
	}
}

// Note says something beside the answer, on stderr, unless -q is given.
func (e *Env) Note(format string, args ...any) {
	if !e.Opt.Quiet {
		e.Say(format, args...)
	}
}

// Detail is a note for those who gave -v.
func (e *Env) Detail(format string, args ...any) {
	if e.Opt.Verbose {
		e.Note(format, args...)
	}
}

// Warn says on stderr that something is not as it should be.
func (e *Env) Warn(format string, args ...any) {
	e.Say(e.StderrStyle().Yellow("warning:")+" "+format, args...)
}

func (e *Env) Say(format string, args ...any) {
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

// Hint says on stderr what could be done next, unless -q is given or MEM_ADVICE is 0.
func (e *Env) Hint(format string, args ...any) {
	if e.Getenv("MEM_ADVICE") != "0" && !e.Opt.JSON {
		e.Note(e.StderrStyle().Yellow("hint:")+" "+format, args...)
	}
}

// PrintJSON prints v, a struct, as the one answer of the command what. A terminal gets it indented.
func (e *Env) PrintJSON(what string, v any) error {
	b, err := EncodeJSON(what, v)
	if err != nil {
		return err
	}
	return e.WriteJSON(b)
}

// WriteJSON prints what is encoded, for a terminal on many lines.
func (e *Env) WriteJSON(b []byte) error {
	if e.Term.Stdout {
		var wide bytes.Buffer
		if err := json.Indent(&wide, b, "", "  "); err != nil {
			return fmt.Errorf("indent the answer: %w", err)
		}
		b = wide.Bytes()
	}
	_, err := e.Out.Write(b)
	return err
}

// PrintJSONList prints what printJSON would of a struct that has a list called key and nothing else. The
// elements are not held together, but for a terminal.
func PrintJSONList[T any](e *Env, what, key string, elements iter.Seq[T]) error {
	return PrintJSONWith(e, what, struct{}{}, key, elements)
}

// PrintJSONWith prints what printJSON would of a struct that has behind what v has a list called key. The
// elements are not held together, but for a terminal.
func PrintJSONWith[T any](e *Env, what string, v any, key string, elements iter.Seq[T]) error {
	head, err := EncodeJSON(what, v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.Write(bytes.TrimSuffix(head, []byte("}\n")))
	b.WriteString(`,"` + key + `":[`)
	comma := false
	for x := range elements {
		if comma {
			b.WriteByte(',')
		}
		comma = true
		if err := enc.Encode(x); err != nil {
			return fmt.Errorf("encode the answer: %w", err)
		}
		b.Truncate(b.Len() - 1) // the newline
		if b.Len() < jsonPiece || e.Term.Stdout {
			continue
		}
		if _, err := e.Out.Write(term.EscapeJSON(b.Bytes())); err != nil {
			return err
		}
		b.Reset()
	}
	b.WriteString("]}\n")
	return e.WriteJSON(term.EscapeJSON(b.Bytes()))
}

// jsonPiece is how many bytes of a list are printed at a time.
const jsonPiece = 16 << 10
