package versioncmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
)

type nextOptions struct {
	why     bool
	drop    string
	undrop  string
	dropped bool
}

// Next returns mem next.
func Next(e *app.Env) *cli.Command {
	var o nextOptions
	return &cli.Command{
		Name:  "next",
		Usage: "print the text that the next session receives at its start",
		Description: "Prints the exact text that the SessionStart hook would hand to a new session of this\n" +
			"project now. --why prints, for each line, the part, the author, the source and the\n" +
			"reason, after the hash that names the line. --drop leaves out what is from the message of\n" +
			"a line, in this and all later texts for sessions of the project, on all your machines;\n" +
			"versions and search keep it. \"mem undo\" or --undrop reverses that. To take a session out\n" +
			"of everything, use \"mem rm\"; to delete a message, \"mem forget\". \"mem log --handed\"\n" +
			"lists the texts that sessions received.",
		Flags: []cli.Flag{
			app.BoolFlag(&o.why, "why", "print the reason for each line instead"),
			app.StringFlag(&o.drop, "drop", "leave out the line with `HASH`, as --why prints it"),
			app.BoolFlag(&o.dropped, "dropped", "list what was left out with --drop"),
			app.StringFlag(&o.undrop, "undrop", "hand over again what --drop `HASH` left out, or a source of --dropped"),
		},
		Action: func(c *cli.Context) error {
			if err := e.WantOperands(c, 0, 0); err != nil {
				return app.WithProjectHint(c.Context, e, err, e.Operand(0))
			}
			given := 0
			for _, is := range []bool{o.why, o.drop != "", o.dropped, o.undrop != ""} {
				if is {
					given++
				}
			}
			if given > 1 {
				return app.WithHint(app.Usagef("options --why, --drop, --dropped and --undrop exclude each other"), "mem next -h")
			}
			return runNext(c.Context, e, o)
		},
	}
}

func runNext(ctx context.Context, e *app.Env, o nextOptions) error {
	options, err := app.ContextOptions(e)
	if err != nil {
		return err
	}
	return app.WithMemory(ctx, e, func(run app.Run) error {
		switch {
		case o.dropped:
			return printDropped(ctx, run, options)
		case o.undrop != "":
			return runUndrop(ctx, run, o.undrop, options)
		}
		given, err := handover.Context(ctx, run.DB, run.Project, options)
		if err != nil {
			return fmt.Errorf("next session's context: %w", err)
		}
		if o.drop != "" {
			return runDrop(ctx, run, given, o.drop)
		}
		answer := view.NextOf(given)
		switch {
		case e.Opt.JSON:
			err = e.PrintJSON("next", answer)
		case given.Text == "":
			err = noteNoText(ctx, run, options)
		case o.why:
			err = printWhyNext(e, answer)
		default:
			for line := range strings.Lines(given.Text) {
				e.Printf("%s\n", e.Safe(strings.TrimSuffix(line, "\n")))
			}
		}
		return run.Listed(ctx, len(given.Text), err)
	})
}

// noteNoText prints why the next session receives no text.
func noteNoText(ctx context.Context, run app.Run, o handover.ContextOptions) error {
	st, err := trust.Outline(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	if len(st.Recent()) == 0 {
		run.Note("the next session receives no text: no session of project %s is in memory", run.Project.Name)
		if h, ok, err := app.Unlinked(ctx, run); err != nil {
			return err
		} else if ok {
			run.Hint("%s: %s", h.Why, h.Command)
		}
		others, err := run.OthersNamed(ctx)
		switch {
		case err != nil:
			return err
		case others == "":
			run.Hint("mem import captures the sessions that Claude Code has")
		default:
			run.Hint("the text for another directory: mem next -p PROJECT, which is one of %s", others)
		}
		return nil
	}
	limit := o.Limit
	o.Limit = 1 << 20
	if given, err := handover.Context(ctx, run.DB, run.Project, o); err != nil {
		return err
	} else if given.Text == "" {
		run.Note("the next session receives no text: no request and no result is in %s of project %s",
			term.Count(len(st.Recent()), "session"), run.Project.Name)
		return nil
	}
	run.Note("the next session receives no text: nothing fits into the %s of hooks.contextSize",
		term.Count(limit, "character"))
	run.Hint("mem config unset hooks.contextSize")
	return nil
}

// printWhyNext prints the reason for each line.
func printWhyNext(e *app.Env, answer view.Next) error {
	section := ""
	for _, l := range answer.Lines {
		if l.Section != section {
			section = l.Section
			e.Printf("%s\n", e.Safe(section))
		}
		from := strings.TrimSpace(l.Said + " " + l.Source)
		e.Printf("  %s  %s\n      %s\n", l.Hash[:8], e.Safe(l.Text), e.Safe(strings.Trim(from+"; "+l.Why, "; ")))
	}
	return nil
}
