package mcpcmd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/memvcs/mem/cmd/mem/internal/app"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the maximum length of a line in bytes. The SDK would end the session at a longer one.
const maxLine = sdk.DefaultMaxLineLength - 1

// Codes of errors in JSON-RPC.
const (
	codeNotJSON = -32700
	codeInvalid = -32600
)

// An output writes answers. It is safe for concurrent use.
type output struct {
	io.WriteCloser
	mu sync.Mutex
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.WriteCloser.Write(b)
}

// refuse answers a line that is no message. The answer names no call, because the id in the line is unknown.
func (o *output) refuse(code int, why string) error {
	b, err := app.Object{"jsonrpc", "2.0", "id", nil, "error", app.Object{"code", code, "message", why}}.MarshalJSON()
	if err == nil {
		_, err = o.Write(append(b, '\n'))
	}
	return err
}

// An input passes on the lines that are JSON, and answers the others with an error. The SDK would end the session.
type input struct {
	io.Closer
	lines *bufio.Reader
	out   *output
	rest  []byte // of the current line
	err   error  // that follows it
}

func newInput(r io.ReadCloser, out *output) *input {
	return &input{Closer: r, lines: bufio.NewReader(r), out: out}
}

// An inputError is an error of reading the input or of answering it. It ends the session.
type inputError struct{ error }

func (e *inputError) Unwrap() error { return e.error }

// ended reports whether the session ends with an error of [sdk.Connection.Read], because no message can follow.
func ended(err error) bool {
	var failed *inputError
	return errors.Is(err, io.EOF) || errors.As(err, &failed)
}

// Read returns bytes of one line.
func (in *input) Read(p []byte) (int, error) {
	for len(in.rest) == 0 {
		if in.err != nil {
			return 0, in.err
		}
		line, err := in.line()
		if err != nil && err != io.EOF {
			err = &inputError{err}
		}
		if in.err = err; len(line) > 0 {
			if err := in.take(line); err != nil {
				return 0, &inputError{err}
			}
		}
	}
	n := copy(p, in.rest)
	in.rest = in.rest[n:]
	return n, nil
}

// line reads a line without the spaces around it; of one that is too long, the start.
func (in *input) line() (line []byte, err error) {
	for {
		part, err := in.lines.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), err
		}
	}
}

// take passes on a line, or answers it.
func (in *input) take(line []byte) error {
	switch {
	case len(line) >= maxLine:
		return in.out.refuse(codeInvalid, "the line is too long")
	case !json.Valid(line):
		return in.out.refuse(codeNotJSON, "the line is not JSON")
	}
	in.rest = append(line, '\n')
	return nil
}
