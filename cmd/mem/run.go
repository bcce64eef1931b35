package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/cmdline"
	"github.com/memvcs/mem/refs/config"
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

// dispatch parses the command line and runs its command.
func dispatch(ctx context.Context, e *app.Env, args []string) error {
	if now, err := time.Parse(time.RFC3339, e.Getenv("MEM_NOW")); err == nil { // before options are read: some are times
		e.Now = func() time.Time { return now }
	}
	table := commands()
	var chosen command
	p := parser(e, table, &chosen)
	line, err := p.Parse(args)
	if err != nil {
		e.Opt.JSON = wantsJSON(args)
		for _, option := range line.Global {
			if when, ok := strings.CutPrefix(option, "--color="); ok {
				e.Opt.Color = when
			}
		}
		return line.Explain(err)
	}
	switch {
	case line.Help:
		c := help(e)
		line = &cmdline.Line{Path: []string{c.Name}, Command: c, Global: line.Global, Operands: line.Path}
		chosen = *find(table, c.Name)
	case line.Command == nil:
		line.Command = &cli.Command{Action: func(c *cli.Context) error { return runOverview(c.Context, e) }}
	}
	before := func(ctx context.Context) (context.Context, error) {
		if err := settle(ctx, e); err != nil || chosen.plain || e.Interruptible == nil {
			return ctx, err
		}
		return e.Interruptible(ctx), nil
	}
	return line.Explain(cmdline.Run(ctx, e, line, chosen.accepts(line.Path), before))
}

// parser returns a parser of command lines that stores the row of the command that it finds in chosen.
func parser(e *app.Env, table []command, chosen *command) *cmdline.Parser {
	return &cmdline.Parser{
		Names:   func() []string { return visible(table) },
		Globals: app.GlobalOptions,
		Bare:    func() string { return chosen.bare },
		Find: func(name string) *cli.Command {
			row := find(table, name)
			if row == nil {
				return nil
			}
			*chosen = *row
			return chosen.build(e)
		},
	}
}

// settle applies the global options.
func settle(ctx context.Context, e *app.Env) error {
	if e.Opt.Dir != "" {
		e.Dir = e.Path(e.Opt.Dir)
		if err := app.CheckDir(ctx, e); err != nil {
			return err
		}
	}
	if fixed := e.Getenv("MEM_NOW"); fixed != "" {
		if _, err := time.Parse(time.RFC3339, fixed); err != nil {
			return app.Usagef("MEM_NOW is %q: want a time such as 2026-01-15T10:00:00Z", fixed)
		}
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
