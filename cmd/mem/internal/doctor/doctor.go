package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/refs"
)

// Doctor returns mem doctor.
func Doctor(e *app.Env) *cli.Command {
	fix, ask := false, false
	return &cli.Command{
		Name:  "doctor",
		Usage: "check hooks, settings, permissions and store",
		Description: "Prints one line per check: ok, warn or fail, with the command that fixes it. --fix\n" +
			"applies the safe fixes: it makes the store private again, trims the cache to its\n" +
			"limit and processes the notes of hooks. It reads the records of the store; mem fsck\n" +
			"verifies every object. Only --remotes uses the network: it asks each remote for its\n" +
			"branches. The exit status is 1 if a check failed.",
		Flags: []cli.Flag{app.BoolFlag(&fix, "fix", "apply the safe fixes"),
			app.BoolFlag(&ask, "remotes", "contact the remotes and compare their branches")},
		Action: e.Action(0, 0, func(c *cli.Context) error {
			if e.Opt.DryRun && !fix {
				return app.WithHint(app.Usagef("mem doctor changes nothing without --fix"), "mem doctor --fix -n")
			}
			e.Lenient = true
			return runDoctor(c.Context, e, fix, ask)
		}),
	}
}

// A Finding is the outcome of a check.
type Finding struct {
	Check string `json:"check"`
	Level string `json:"level"` // ok, warn, fail, fixed
	What  string `json:"what"`
	Fix   string `json:"mend,omitempty"` // a shell command, or an editor with the change as a comment
}

// The levels of findings.
const (
	levelOK    = "ok"
	levelWarn  = "warn"
	levelFail  = "fail"
	levelFixed = "fixed"
)

// An Exam is one run of mem doctor.
type Exam struct {
	E     *app.Env
	Ctx   context.Context
	Fix   bool // apply the safe fixes
	Dir   string
	m     *layers.Memory // nil if it cannot be opened
	Found []Finding
}

func (x *Exam) ok(check, format string, args ...any) {
	x.Found = append(x.Found, Finding{check, levelOK, fmt.Sprintf(format, args...), ""})
}

func (x *Exam) warn(check, fix, format string, args ...any) {
	x.Found = append(x.Found, Finding{check, levelWarn, fmt.Sprintf(format, args...), fix})
}

func (x *Exam) fail(check, fix, format string, args ...any) {
	x.Found = append(x.Found, Finding{check, levelFail, fmt.Sprintf(format, args...), fix})
}

func (x *Exam) fixed(check, format string, args ...any) {
	x.Found = append(x.Found, Finding{check, levelFixed, fmt.Sprintf(format, args...), ""})
}

func runDoctor(ctx context.Context, e *app.Env, fix, ask bool) error {
	dir, err := e.MemoryDir()
	if err != nil {
		return err
	}
	x := &Exam{E: e, Ctx: ctx, Fix: fix && !e.Opt.DryRun, Dir: dir}
	if err := x.Run(ask); err != nil {
		return err
	}
	return x.report()
}

// Run runs all checks. With ask it contacts the remotes.
func (x *Exam) Run(ask bool) error {
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
		x.projects()
		x.remotes(ask)
	}
	return x.Ctx.Err()
}

// open opens the memory and reports whether it could.
func (x *Exam) open() bool {
	m, err := app.OpenMemory(x.E)
	switch {
	case errors.Is(err, refs.ErrNotRepo):
		x.fail("memory", FixOpen(x.Dir, err), "no memory in %s", x.Dir)
	case err != nil:
		x.fail("memory", FixOpen(x.Dir, err), "%v", err)
	default:
		x.m = m
		x.ok("memory", "%s, device %s", x.Dir, m.Repo().Device().Name)
	}
	return err == nil
}

func (x *Exam) report() error {
	failed := false
	for _, f := range x.Found {
		failed = failed || f.Level == levelFail
	}
	e := x.E
	if e.Opt.JSON {
		if err := e.PrintJSON("doctor", nil, "ok", !failed, "dryRun", e.Opt.DryRun, "checks", x.Found); err != nil {
			return err
		}
	} else {
		for _, f := range x.Found {
			e.Printf("%s\n", x.line(f))
		}
	}
	if failed {
		return app.Exit(app.ExitNo)
	}
	return nil
}

// line prints a finding: level, check, text, and after an arrow the fix.
func (x *Exam) line(f Finding) string {
	style := x.E.Style()
	paint := map[string]func(string) string{levelOK: style.Green, levelFixed: style.Green, levelWarn: style.Yellow,
		levelFail: style.Red}[f.Level]
	line := fmt.Sprintf("%s %-11s %s", paint(fmt.Sprintf("%-5s", f.Level)), f.Check,
		x.E.Safe(strings.ReplaceAll(f.What, "\n", "; ")))
	if f.Fix != "" {
		line += "  -> " + style.Bold(x.E.Safe(f.Fix))
	}
	return line
}
