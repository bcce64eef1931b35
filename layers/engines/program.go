package engines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// A Program is an external program. When a run ends or times out, its whole process group is killed.
type Program struct {
	Command  func(ctx context.Context, settings []string, name string, args ...string) *exec.Cmd // with its environment
	Path     string                                                                              // of the executable
	Args     []string                                                                            // before those of a call
	Settings []string                                                                            // added to the environment
	Dir      string                                                                              // working directory
}

// Limits of the output of a program.
const (
	maxOutput = 32 << 20
	maxStderr = 8 << 10
)

// grace is the time between SIGTERM and SIGKILL.
const grace = 2 * time.Second

// run runs the program and returns its output, also with an error. The error is an [*ExitError] if the exit status is
// not 0.
func (p Program) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	cmd := p.Command(ctx, p.Settings, p.Path, append(append([]string(nil), p.Args...), args...)...)
	cmd.Dir = p.Dir
	out, errs := &capped{most: maxOutput}, &capped{most: maxStderr}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), out, errs
	ownGroup(cmd)
	cmd.Cancel = func() error { return endGroup(cmd) }
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: run %s: %w", ErrSetup, p.Path, err)
	}
	err := cmd.Wait()
	killGroup(cmd)
	switch {
	case ctx.Err() != nil:
		return out.b, fmt.Errorf("run %s: %w", p.Path, ctx.Err())
	case out.over:
		return nil, fmt.Errorf("run %s: output of more than %d bytes", p.Path, maxOutput)
	case errors.Is(err, exec.ErrWaitDelay):
		return out.b, nil // a child process kept the output open
	case err != nil:
		return out.b, &ExitError{p.Path, err, lastLine(errs.b)}
	}
	return out.b, nil
}

// An ExitError means that a program failed.
type ExitError struct {
	Path    string
	Err     error
	Message string // the last line of its standard error
}

func (e *ExitError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("run %s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("run %s: %v: %s", e.Path, e.Err, e.Message)
}

func (e *ExitError) Unwrap() error { return e.Err }

func lastLine(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return oneLine(lines[len(lines)-1])
}

// capped keeps the first bytes that are written to it and drops the rest.
type capped struct {
	b    []byte
	most int
	over bool
}

func (c *capped) Write(p []byte) (int, error) {
	n := min(len(p), c.most-len(c.b))
	c.b = append(c.b, p[:n]...)
	c.over = c.over || n < len(p)
	return len(p), nil
}

// KeyFrom returns a function that runs a program for a key: the first line of its output.
func KeyFrom(p Program) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		out, err := p.run(ctx, nil)
		key, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		switch key = strings.TrimSpace(key); {
		case err != nil:
			return "", fmt.Errorf("%w: run the key command: %w", ErrAuth, err)
		case key == "":
			return "", fmt.Errorf("%w: the key command printed nothing", ErrAuth)
		}
		return key, nil
	}
}
