package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"

	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// A pager is a program that shows results a screen at a time.
type pager struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// Page sends the results of the command name through the user's pager, if a person is reading them.
// A command that may print much calls it before it prints.
func (e *Env) Page(name string) error {
	program, err := e.PagerProgram(name)
	if err != nil || program == "" || e.Out.pager != nil {
		return err
	}
	if err := e.Out.Flush(); err != nil {
		return err
	}
	p, err := e.startPager(program)
	if err != nil {
		e.Detail("cannot start the pager %s: %v", program, err)
		return nil // the results are as good without it
	}
	e.Out.pager = p
	e.Out.buf.Reset(p.stdin)
	return nil
}

// PagerProgram returns the pager to use, "" for none: MEM_PAGER, core.pager, PAGER or less.
func (e *Env) PagerProgram(name string) (string, error) {
	if !e.Term.Stdout || e.Opt.NoPager || e.Getenv("TERM") == "dumb" {
		return "", nil
	}
	conf, err := e.Settings()
	if err != nil {
		return "", err
	}
	if use, err := conf.Bool("pager." + name); err != nil || !use {
		return "", err
	}
	program, err := conf.String("core.pager")
	if err != nil {
		return "", err
	}
	for _, p := range []string{e.Getenv("MEM_PAGER"), program, e.Getenv("PAGER")} {
		if p == "cat" {
			return "", nil
		}
		if p != "" {
			return p, nil
		}
	}
	if _, err := exec.LookPath("less"); err != nil {
		return "", nil // not installed
	}
	return "less", nil
}

// startPager starts program through the shell, so that it may have arguments.
func (e *Env) startPager(program string) (*pager, error) {
	shell, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		shell, flag = "cmd", "/c"
	}
	var settings []string
	if e.Getenv("LESS") == "" {
		settings = append(settings, "LESS=FRX") // leave if it fits, show colour, keep the screen
	}
	if e.Getenv("LV") == "" {
		settings = append(settings, "LV=-c")
	}
	// The pager outlives an interrupt: the same key is its own business.
	cmd := e.Command(context.Background(), settings, shell, flag, program)
	cmd.Stdout, cmd.Stderr = term.File(e.Stdout), term.File(e.Stderr)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("connect the pager: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the pager: %w", err)
	}
	return &pager{cmd, stdin}, nil
}

// close tells the pager that all is there and waits until the reader leaves it. How a pager ends says nothing
// about the results.
func (p *pager) close() error {
	_ = p.stdin.Close() // closed already if the pager has gone
	err := p.cmd.Wait()
	var status *exec.ExitError
	if errors.As(err, &status) && status.ExitCode() != 126 && status.ExitCode() != 127 {
		return nil
	}
	if err != nil {
		return WithHint(fmt.Errorf("run the pager: %w", err), "mem --no-pager ...", "mem config set core.pager less")
	}
	return nil
}
