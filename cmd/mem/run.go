package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/refs/config"
	"github.com/urfave/cli/v2"
)

// run runs mem with args in the environment env and returns its exit status.
func run(ctx context.Context, env app.Env, args []string) (code int) {
	e := &env
	e.Opt = app.Options{LockTimeout: -1}
	e.Out = app.NewOutput(e.Stdout, e.Term.Stdout)
	defer func() {
		if p := recover(); p != nil {
			code = reportPanic(e, p)
		}
	}()
	err := dispatch(ctx, e, args)
	return report(e, finish(e, err))
}

// finish flushes the output. Its error is the result of the run, unless the command failed before.
func finish(e *app.Env, err error) error {
	closed := e.Out.Close()
	if err == nil || errors.Is(err, app.ErrStdoutClosed) {
		return closed
	}
	return err
}

// dispatch normalises the command line and runs its command.
func dispatch(ctx context.Context, e *app.Env, args []string) error {
	table := commands()
	var chosen command
	p := parser{
		names:   func() []string { return visible(table) },
		globals: app.GlobalOptions,
		bare:    func() string { return chosen.bare },
		find: func(name string) *cli.Command {
			row := find(table, name)
			if row == nil {
				return nil
			}
			chosen = *row
			return chosen.build(e)
		},
	}
	line, err := p.normalise(args)
	if err != nil {
		e.Opt.JSON = wantsJSON(args)
		for _, option := range line.global {
			if when, ok := strings.CutPrefix(option, "--color="); ok {
				e.Opt.Color = when
			}
		}
		return line.explained(err)
	}
	switch {
	case line.help:
		return line.explained(invoke(ctx, e, command{name: "help"}, line.askHelp(help(e))))
	case line.command == nil:
		line.command = &cli.Command{Action: func(c *cli.Context) error { return runOverview(c.Context, e) }}
		return line.explained(invoke(ctx, e, command{}, line))
	}
	return line.explained(invoke(ctx, e, chosen, line))
}

// askHelp returns the command line of help for the command of a.
func (a *argv) askHelp(help *cli.Command) *argv {
	return &argv{path: []string{help.Name}, command: help, global: a.global, operands: a.path}
}

// explained adds the help of the command as a hint to a usage error without one.
func (a *argv) explained(err error) error {
	if app.StatusOf(err) != app.ExitUsage || len(app.HintsOf(err)) > 0 {
		return err
	}
	if len(a.path) == 0 {
		return app.WithHint(err, "mem help")
	}
	return app.WithHint(err, "mem "+strings.Join(a.path, " ")+" -h")
}

// invoke runs a command with its options and operands.
func invoke(ctx context.Context, e *app.Env, entry command, line *argv) error {
	return appOf(e, entry, line).RunContext(ctx, line.words())
}

// words returns the line in the order of urfave/cli: the options of each command, then "--" and the operands.
func (a *argv) words() []string {
	words := slices.Concat([]string{"mem"}, a.global, a.path, a.local)
	if !a.command.SkipFlagParsing {
		words = append(words, "--")
	}
	return append(words, a.operands...)
}

// appOf returns an app with only the command of line, because an operand may equal the name of another command.
// The app has no help or error output: mem has its own.
func appOf(e *app.Env, entry command, line *argv) *cli.App {
	mem := &cli.App{
		Name: "mem", Flags: e.Opt.Flags(true), HideHelp: true, Compiled: time.Unix(0, 0),
		Before:       func(*cli.Context) error { return permit(e, entry, line) },
		OnUsageError: asUsage, ExitErrHandler: func(*cli.Context, error) {},
		Reader: e.Stdin, Writer: e.Out, ErrWriter: e.Stderr,
	}
	leaf := *line.command
	leaf.Subcommands, leaf.HideHelp, leaf.OnUsageError = nil, true, asUsage
	leaf.Action = func(c *cli.Context) error {
		if err := prepare(e, c, entry); err != nil {
			return err
		}
		return line.command.Action(c)
	}
	if len(line.path) == 0 {
		mem.Action = leaf.Action
		return mem
	}
	top := &leaf
	for _, name := range slices.Backward(line.path[:len(line.path)-1]) {
		top = &cli.Command{Name: name, Subcommands: []*cli.Command{top}, HideHelp: true, OnUsageError: asUsage}
	}
	mem.Commands = []*cli.Command{top}
	return mem
}

func asUsage(_ *cli.Context, err error, _ bool) error { return app.Usagef("%v", err) }

// permit returns a usage error for global options that the command does not accept.
func permit(e *app.Env, entry command, line *argv) error {
	name := line.commandLine()
	if !entry.changes(line.path) {
		if err := mustWrite(name, line.global); err != nil {
			return err
		}
	}
	// With a project, names of sessions and versions may be those of other projects, too.
	if e.Opt.AllProjects && e.Opt.Project == "" && entry.name != "help" && !entry.spans(line.path) {
		err := app.Usagef("%s has no option --all-projects: it does not work on several projects", typed(name))
		return app.WithHint(err, typed(name)+" -h")
	}
	return nil
}

// prepare applies the global options and stores the operands of c.
func prepare(e *app.Env, c *cli.Context, entry command) error {
	if err := settle(e); err != nil {
		return err
	}
	e.Operands = c.Args().Slice()
	if !entry.plain && e.Interruptible != nil {
		c.Context = e.Interruptible(c.Context)
	}
	return nil
}

// mustWrite returns a usage error for options that only writing commands accept.
func mustWrite(name string, global []string) error {
	for _, o := range []string{"--dry-run=true", "--yes=true"} {
		if slices.Contains(global, o) {
			spelled, _, _ := strings.Cut(o, "=")
			return app.WithHint(app.Usagef("%s has no option %s: it changes nothing", typed(name), spelled), typed(name)+" -h")
		}
	}
	return nil
}

// settle applies the global options.
func settle(e *app.Env) error {
	if e.Opt.Dir != "" {
		e.Dir = e.Path(e.Opt.Dir)
		if fi, err := os.Stat(e.Dir); err == nil && !fi.IsDir() {
			return fmt.Errorf("cannot change to %s: it is not a directory", e.Opt.Dir)
		}
	}
	if fixed := e.Getenv("MEM_NOW"); fixed != "" {
		now, err := time.Parse(time.RFC3339, fixed)
		if err != nil {
			return app.Usagef("MEM_NOW is %q: want a time such as 2026-01-15T10:00:00Z", fixed)
		}
		e.Now = func() time.Time { return now }
	}
	if len(e.Opt.Set) == 0 {
		return nil
	}
	scratch, err := config.Parse(nil)
	if err != nil {
		return err
	}
	return e.Override(scratch)
}

// wantsJSON looks for --json in a command line that could not be parsed.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json")
}

// typed returns the command line of a command: "mem" if path is empty.
func typed(name string) string { return strings.TrimSpace("mem " + name) }
