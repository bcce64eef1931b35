package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/refs/config"
)

// run runs mem with args in the world of env and returns its exit status.
func run(ctx context.Context, env app.Env, args []string) (code int) {
	e := &env
	e.Opt = app.Options{LockTimeout: -1}
	e.Out = app.NewOutput(e.Stdout, e.Term.Stdout)
	defer func() {
		if p := recover(); p != nil {
			code = crashed(e, p)
		}
	}()
	err := dispatch(ctx, e, args)
	return report(e, finish(e, err))
}

// finish writes out what is left of the answer. If that fails nothing else matters, unless the command
// had failed before.
func finish(e *app.Env, err error) error {
	closed := e.Out.Close()
	if err == nil || errors.Is(err, app.ErrStdoutClosed) {
		return closed
	}
	return err
}

// dispatch puts the command line in order and runs the command that it names.
func dispatch(ctx context.Context, e *app.Env, args []string) error {
	table := commands()
	var chosen command
	p := parser{
		names:   func() []string { return visible(table) },
		globals: app.GlobalScope,
		bare:    func() string { return chosen.bare },
		find: func(name string) *cli.Command {
			i := slices.IndexFunc(table, func(c command) bool { return c.name == name || name != "" && c.alias == name })
			if i < 0 {
				return nil
			}
			chosen = table[i]
			return chosen.make(e)
		},
	}
	line, err := p.normalise(args)
	if err != nil {
		e.Opt.JSON = wantsJSON(args)
		return line.explained(err)
	}
	if line.command == nil && !line.help {
		line.command = &cli.Command{Action: func(ctx context.Context, _ *cli.Command) error { return runOverview(ctx, e) }}
		return line.explained(invoke(ctx, e, command{}, line))
	}
	if line.help {
		line.operands, line.local = line.path, nil
		chosen, line.command = command{name: "help"}, help(e)
	}
	return line.explained(invoke(ctx, e, chosen, line))
}

// explained adds to an error about the line that says no more where to read on.
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
	leaf := *line.command
	leaf.Name = strings.Join(line.path, " ")
	if entry.name == "help" {
		leaf.Name = "help"
	}
	if len(line.global) > 0 { // without, they are what they are
		if err := setFlags(e.Opt.Flags(true), line.global); err != nil {
			return err
		}
	}
	if !entry.changes(line.path) {
		if err := mustWrite(leaf.Name, line.global); err != nil {
			return err
		}
	}
	// With a project, names of sessions and versions may be those of other projects, too.
	if e.Opt.AllProjects && e.Opt.Project == "" && entry.name != "help" && !entry.spans(line.path) {
		return app.WithHint(app.Usagef("%s has no option --all-projects: it does not work on several projects", typed(leaf.Name)), typed(leaf.Name)+" -h")
	}
	if err := setFlags(leaf.Flags, line.local); err != nil {
		return err
	}
	if err := settle(e); err != nil {
		return err
	}
	e.Operands = line.operands
	if !entry.plain && e.Interruptible != nil {
		ctx = e.Interruptible(ctx)
	}
	return leaf.Action(ctx, &leaf)
}

// setFlags sets flags as args say, each of which is --name=value.
func setFlags(flags []*cli.Flag, args []string) error {
	for _, arg := range args {
		name, val, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		f := cli.Find(flags, name)
		if f == nil {
			return app.Usagef("there is no option --%s", name)
		}
		if err := f.Set(val); err != nil {
			return app.Usagef("option --%s cannot be %q: %v", name, val, err)
		}
	}
	return nil
}

// mustWrite refuses the options that only a command that changes something has.
func mustWrite(name string, global []string) error {
	for _, o := range []string{"--dry-run=true", "--yes=true"} {
		if slices.Contains(global, o) {
			spelled, _, _ := strings.Cut(o, "=")
			return app.WithHint(app.Usagef("%s has no option %s: it changes nothing", typed(name), spelled), typed(name)+" -h")
		}
	}
	return nil
}

// settle makes the global options take effect.
func settle(e *app.Env) error {
	if e.Opt.Dir != "" {
		e.Dir = e.Path(e.Opt.Dir)
		if fi, err := os.Stat(e.Dir); err == nil && !fi.IsDir() {
			return app.Fatalf("cannot change to %s: it is no directory", e.Opt.Dir)
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

// wantsJSON looks for --json in a line that could not be read.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json")
}

// typed is how a command is typed: "mem" alone if it has no name.
func typed(name string) string { return strings.TrimSpace("mem " + name) }
