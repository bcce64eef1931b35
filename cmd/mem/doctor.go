package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/refs"
)

// doctor is the command that looks whether everything is as it should be.
func (e *Env) doctor() *cli.Command {
	fix, ask := false, false
	return &cli.Command{
		Name:  "doctor",
		Usage: "check hooks, program, permissions, clock, spool, store and settings",
		Description: "Prints a line for each check: ok, warn or fail, and for what is not ok the command that mends it. --fix does what can\n" +
			"be done without harm: it makes the store private again, evicts what the cache has too much, and folds in notes that\n" +
			"hooks left. Nothing is sent anywhere, and nobody is asked but with --remotes,\n" +
			"which asks each remote what it has. The exit status is 1 if something failed.",
		Flags: []*cli.Flag{cli.Bool(&fix, "fix", "mend what can be mended without harm"),
			cli.Bool(&ask, "remotes", "ask the remotes whether they answer and what they have")},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 0); err != nil {
				return err
			}
			if e.opt.dryRun && !fix {
				return withHint(usagef("mem doctor changes nothing without --fix"), "mem doctor --fix -n")
			}
			return e.runDoctor(ctx, fix, ask)
		},
	}
}

// A finding is the outcome of a check.
type finding struct {
	Check string `json:"check"`
	Level string `json:"level"` // ok, warn, fail, fixed
	What  string `json:"what"`
	Mend  string `json:"mend,omitempty"` // the line to type that mends it
}

// The levels of findings.
const (
	levelOK    = "ok"
	levelWarn  = "warn"
	levelFail  = "fail"
	levelFixed = "fixed"
)

// An exam is a run of the doctor.
type exam struct {
	e     *Env
	ctx   context.Context
	fix   bool // and not only say what would be mended
	dir   string
	m     *layers.Memory // nil if it cannot be opened
	found []finding
}

func (x *exam) ok(check, format string, args ...any) {
	x.found = append(x.found, finding{check, levelOK, fmt.Sprintf(format, args...), ""})
}

func (x *exam) warn(check, mend, format string, args ...any) {
	x.found = append(x.found, finding{check, levelWarn, fmt.Sprintf(format, args...), mend})
}

func (x *exam) fail(check, mend, format string, args ...any) {
	x.found = append(x.found, finding{check, levelFail, fmt.Sprintf(format, args...), mend})
}

func (x *exam) fixed(check, format string, args ...any) {
	x.found = append(x.found, finding{check, levelFixed, fmt.Sprintf(format, args...), ""})
}

func (e *Env) runDoctor(ctx context.Context, fix, ask bool) error {
	dir, err := e.memoryDir()
	if err != nil {
		return err
	}
	x := &exam{e: e, ctx: ctx, fix: fix && !e.opt.dryRun, dir: dir}
	if err := x.run(ask); err != nil {
		return err
	}
	return x.report()
}

// run makes all checks. With ask the remotes are asked what they have.
func (x *exam) run(ask bool) error {
	x.program()
	x.hooks()
	x.client()
	x.settings()
	if x.permissions() && x.open() {
		defer x.m.Close()
		x.clock()
		x.spool()
		x.clone()
		x.store()
		x.cache()
		x.disk()
		x.devices()
		x.remotes(ask)
	}
	return x.ctx.Err()
}

// open opens the memory and reports whether it could.
func (x *exam) open() bool {
	m, err := x.e.memory()
	switch {
	case errors.Is(err, refs.ErrNotRepo):
		x.fail("memory", mendOpen(x.dir, err), "there is none in %s", x.dir)
	case err != nil:
		x.fail("memory", mendOpen(x.dir, err), "%v", err)
	default:
		x.m = m
		x.ok("memory", "%s, device %s", x.dir, m.Repo().Device().Name)
	}
	return err == nil
}

func (x *exam) report() error {
	failed := false
	for _, f := range x.found {
		failed = failed || f.Level == levelFail
	}
	e := x.e
	if e.opt.json {
		if err := e.printJSON("doctor", struct {
			OK     bool      `json:"ok"`
			DryRun bool      `json:"dry_run"`
			Checks []finding `json:"checks"`
		}{!failed, e.opt.dryRun, x.found}); err != nil {
			return err
		}
	} else {
		for _, f := range x.found {
			e.printf("%s\n", x.line(f))
		}
	}
	if failed {
		return exit(exitNo)
	}
	return nil
}

// line writes a finding: level, check, what was found, and behind an arrow what mends it.
func (x *exam) line(f finding) string {
	style := x.e.style()
	paint := map[string]func(string) string{levelOK: style.green, levelFixed: style.green, levelWarn: style.yellow, levelFail: style.red}[f.Level]
	line := fmt.Sprintf("%s %-11s %s", paint(fmt.Sprintf("%-5s", f.Level)), f.Check, x.e.safe(strings.ReplaceAll(f.What, "\n", "; ")))
	if f.Mend != "" {
		line += "  -> " + style.bold(x.e.safe(f.Mend))
	}
	return line
}
