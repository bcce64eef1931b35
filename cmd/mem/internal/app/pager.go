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

// A pager is a running pager program and its input.
type pager struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// Page sends the results through the user's pager if stdout is a terminal and the setting pager.NAME allows it.
// A command with long output calls it before it prints.
func (e *Env) Page(name string) {
	program := e.PagerProgram(name)
	if program == "" || e.Out.pager != nil || e.Out.Flush() != nil { // the flush at the end fails, too
		return
	}
	p, err := e.startPager(program)
	if err != nil {
		e.Detail("cannot start the pager %s: %v", program, err)
		return // continue without a pager
	}
	e.Out.pager = p
	e.Out.buf.Reset(p.stdin)
}

// PagerProgram returns the pager: MEM_PAGER, core.pager, PAGER or less, in this order; "" means none.
func (e *Env) PagerProgram(name string) string {
	if !e.Term.Stdout || e.Opt.NoPager || e.Getenv("TERM") == "dumb" {
		return ""
	}
	conf, err := e.Settings()
	if err != nil || !conf.Bool("pager."+name) {
		return ""
	}
	for _, p := range []string{e.Getenv("MEM_PAGER"), conf.String("core.pager"), e.Getenv("PAGER")} {
		if p == "cat" {
			return ""
		}
		if p != "" {
			return p
		}
	}
	if _, err := exec.LookPath("less"); err != nil {
		return "" // not installed
	}
	return "less"
}

// startPager starts program through a shell, so it may have arguments.
func (e *Env) startPager(program string) (*pager, error) {
	shell, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		shell, flag = "cmd", "/c"
	}
	var settings []string
	if e.Getenv("LESS") == "" {
		settings = append(settings, "LESS=FRX") // quit if one screen is enough, show colour, do not clear the screen
	}
	if e.Getenv("LV") == "" {
		settings = append(settings, "LV=-c")
	}
	// An interrupt does not end the pager, which handles the key itself.
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

// close ends the pager's input and waits until the pager exits. Its exit status is ignored, except those of a
// shell that cannot run it.
func (p *pager) close() error {
	_ = p.stdin.Close() // already closed if the pager has exited
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
