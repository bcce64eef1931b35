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

// A Program is another program that is run for an answer, with all that it started itself: when it is done or out of
// time, its whole process group ends.
type Program struct {
	Path string   // of the executable
	Args []string // in front of those of a call
	Env  []string // its whole environment
	Dir  string   // where it runs
}

// The most that is kept of what a program writes.
const (
	mostOutput = 32 << 20
	mostErrors = 8 << 10
)

// grace is how long a program has between the wish and the order to end.
const grace = 2 * time.Second

// run runs the program and returns what it wrote. A status other than 0 is an [*ExitError]; what it wrote is returned
// all the same.
func (p Program) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, p.Path, append(append([]string(nil), p.Args...), args...)...)
	cmd.Env, cmd.Dir = p.Env, p.Dir
	if cmd.Env == nil {
		cmd.Env = []string{} // never that of this process
	}
	out, errs := &capped{most: mostOutput}, &capped{most: mostErrors}
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
		return nil, fmt.Errorf("run %s: it writes more than %d bytes", p.Path, mostOutput)
	case errors.Is(err, exec.ErrWaitDelay):
		return out.b, nil // something it left behind held its output open
	case err != nil:
		return out.b, &ExitError{p.Path, err, lastLine(errs.b)}
	}
	return out.b, nil
}

// An ExitError says that a program failed.
type ExitError struct {
	Path    string
	Err     error
	Message string // the last line it wrote to its standard error
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
	return firstLine(lines[len(lines)-1])
}

// capped keeps the first bytes that are written to it and forgets the rest.
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

// KeyFrom returns what asks a program for a key: the first line that it writes.
func KeyFrom(p Program) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		out, err := p.run(ctx, nil)
		key, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		switch key = strings.TrimSpace(key); {
		case err != nil:
			return "", fmt.Errorf("%w: ask for the key: %w", ErrAuth, err)
		case key == "":
			return "", fmt.Errorf("%w: the command that was asked for the key wrote nothing", ErrAuth)
		}
		return key, nil
	}
}
