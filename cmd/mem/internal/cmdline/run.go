package cmdline

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// Accepts tells which global options a command accepts.
type Accepts struct {
	Writes      bool // --dry-run and --yes
	AllProjects bool
}

// Run runs the command of line with its options and operands. It calls before when the global options are set, for the
// context of the command.
func Run(ctx context.Context, e *app.Env, line *Line, a Accepts,
	before func(context.Context) (context.Context, error),
) error {
	mem := appOf(e, line, func(c *cli.Context) (err error) {
		if c.Context, err = before(c.Context); err != nil {
			return err
		}
		e.Operands = c.Args().Slice()
		return line.Command.Action(c)
	})
	mem.Before = func(*cli.Context) error { return a.Check(line, e.Opt) }
	return mem.RunContext(ctx, line.words())
}

// appOf returns an app with only the command of line, because an operand may equal the name of another command.
// The app has no help or error output: mem has its own.
func appOf(e *app.Env, line *Line, action cli.ActionFunc) *cli.App {
	mem := &cli.App{
		Name: "mem", Flags: e.Opt.Flags(true), HideHelp: true, Compiled: time.Unix(0, 0),
		OnUsageError: asUsage, ExitErrHandler: func(*cli.Context, error) {},
		Reader: e.Stdin, Writer: e.Out, ErrWriter: e.Stderr,
	}
	if len(line.Path) == 0 {
		mem.Action = action
		return mem
	}
	leaf := *line.Command
	leaf.Subcommands, leaf.HideHelp, leaf.OnUsageError, leaf.Action = nil, true, asUsage, action
	top := &leaf
	for _, name := range slices.Backward(line.Path[:len(line.Path)-1]) {
		top = &cli.Command{Name: name, Subcommands: []*cli.Command{top}, HideHelp: true, OnUsageError: asUsage}
	}
	mem.Commands = []*cli.Command{top}
	return mem
}

func asUsage(_ *cli.Context, err error, _ bool) error { return app.Usagef("%v", err) }

// Check returns a usage error for global options that the command of line does not accept.
func (a Accepts) Check(line *Line, o app.Options) error {
	for _, option := range []string{"--dry-run=true", "--yes=true"} {
		if !a.Writes && slices.Contains(line.Global, option) {
			spelled, _, _ := strings.Cut(option, "=")
			return app.WithHint(app.Usagef("%s has no option %s: it changes nothing", line, spelled), line.String()+" -h")
		}
	}
	// With a project, names of sessions and versions may be those of other projects, too.
	if !a.AllProjects && o.AllProjects && o.Project == "" {
		err := app.Usagef("%s has no option --all-projects: it does not work on several projects", line)
		return app.WithHint(err, line.String()+" -h")
	}
	return nil
}
