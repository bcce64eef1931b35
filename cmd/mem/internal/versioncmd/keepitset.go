package versioncmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
)

// keepitChanges returns the subcommands that change markers, and mem keepit lint.
func keepitChanges(e *app.Env) []*cli.Command {
	var weight keepit.Weight = 80
	return []*cli.Command{
		{Name: "set", Usage: "set the weight of a marker", ArgsUsage: "[<session>] <marker> <weight>",
			Description: "The weight is a number from 0.00 to 1.00, or pinned (1.00), critical (0.90), " +
				"important (0.75), notable (0.50),\n" +
				"minor (0.25) or hint (0.10).",
			Action: app.Action(e, 2, 3, func(ctx context.Context, run app.Run) error {
				last := len(e.Operands) - 1
				w, err := keepit.ParseTyped(e.Operand(last))
				if err != nil {
					return app.Usagef("%v", err)
				}
				return changeKeepit(ctx, run, e.Operands[:last], func(rev state.Rev, id string) (state.Keepit, error) {
					return markers.SetKeepit(ctx, run.DB, rev, id, w, markers.Edit{DryRun: e.Opt.DryRun})
				})
			})},
		{Name: "add", Usage: "pin a text that the user typed", ArgsUsage: "<rev> [<text>]",
			Description: "REV names one message, such as abc1#234. Without TEXT, all typed text of the message is\n" +
				"pinned.",
			Flags: []cli.Flag{
				app.ParsedFlag(&weight, "weight,w", "set the weight to `W`, such as 0.9 or critical; default 0.80",
					keepit.ParseTyped),
			},
			Action: app.Action(e, 1, 2, func(ctx context.Context, run app.Run) error {
				if len(e.Operands) > 1 && e.Operand(1) == "" {
					return app.Usagef("no text to pin")
				}
				return runKeepitAdd(ctx, run, e.Operand(0), e.Operand(1), weight)
			})},
		{Name: "rm", Usage: "remove a marker; its text is no longer pinned", ArgsUsage: "[<session>] <marker>",
			Action: app.Action(e, 1, 2, func(ctx context.Context, run app.Run) error {
				return changeKeepit(ctx, run, e.Operands, func(rev state.Rev, id string) (state.Keepit, error) {
					return markers.RemoveKeepit(ctx, run.DB, rev, id, markers.Edit{DryRun: e.Opt.DryRun})
				})
			})},
		{Name: "lint", Usage: "find malformed markers", ArgsUsage: "[<rev>]",
			Action: app.Action(e, 0, 1, runKeepitLint)},
	}
}

// changeKeepit changes the marker that the last operand names, of the session before it or the newest.
func changeKeepit(ctx context.Context, run app.Run, args []string, change func(state.Rev, string) (state.Keepit, error)) error {
	id, name := args[len(args)-1], ""
	if !markerName(id) {
		return app.WithHint(app.Usagef("%q is not a marker", id), "markers are k1, k2, a1, ...: mem keepit list")
	}
	if len(args) > 1 {
		name = args[0]
	}
	rev, err := run.ResolveSession(ctx, app.OrNewest(name))
	if err != nil {
		return err
	}
	k, err := change(rev, id)
	if errors.Is(err, markers.ErrMarked) {
		return app.WithHint(err, "remove its marker first: mem keepit rm "+term.ShortID(rev.Session.ID)+" MARKER")
	}
	if err != nil {
		return err
	}
	return printKeepitChange(run.Env, rev, k, "set %s to %s")
}

// printKeepitChange prints the change of a marker; format is that of its name and weight.
func printKeepitChange(e *app.Env, rev state.Rev, k state.Keepit, format string) error {
	if e.Opt.JSON {
		return e.PrintJSON("keepit.change", view.MarkerOf(rev.Session, k), "dryRun", e.Opt.DryRun)
	}
	did := fmt.Sprintf(format, k.ID, k.Mark.Weight)
	if k.Removed {
		did = "removed " + k.ID
	}
	e.Note("%s%s: %s#%d %s", e.Verb("", "would have "), did, term.ShortID(rev.Session.ID), k.Mark.Message, tokens.OneLine(k.Mark.Text, 60))
	return nil
}

func runKeepitAdd(ctx context.Context, run app.Run, name, text string, w keepit.Weight) error {
	rev, err := run.Resolve(ctx, name)
	if err != nil && text == "" && strings.ContainsRune(name, ' ') {
		return app.WithHint(err, "pin words of a message: mem keepit add abc1#234 \"its text\"",
			"or state a rule for every session: "+term.Shell("mem", "rules", "add", name))
	}
	if err != nil {
		return err
	}
	if rev.Kind != state.IsMessages || rev.From != rev.To {
		return app.WithHint(app.Usagef("%s is not a message", name),
			"name one by its number: mem keepit add abc1#234 \"its text\"")
	}
	k, err := markers.AddKeepit(ctx, run.DB, rev, text, w, markers.Edit{DryRun: run.Opt.DryRun})
	switch {
	case errors.Is(err, markers.ErrNotTyped):
		return app.WithHint(err, "only text that the user typed can be pinned")
	case errors.Is(err, markers.ErrNoText), errors.Is(err, markers.ErrManyTexts):
		return app.WithHint(err, fmt.Sprintf("read it: mem show %s#%d", term.ShortID(rev.Session.ID), rev.From))
	case errors.Is(err, markers.ErrMarked):
		return app.WithHint(err, fmt.Sprintf("change its weight: mem keepit set %s MARKER %s",
			term.ShortID(rev.Session.ID), w))
	case err != nil:
		return err
	}
	if err := printKeepitChange(run.Env, rev, k, "pinned %s with %s"); err != nil || run.Opt.JSON || k.Mark.Weight >= keepit.Pinned {
		return err
	}
	run.Hint("its marker is %s; it is kept in versions until more sessions follow; for good: mem keepit set %s %[1]s 1", k.ID, term.ShortID(rev.Session.ID))
	return nil
}

func runKeepitLint(ctx context.Context, run app.Run) error {
	revs, err := lintRevs(ctx, run, run.Operand(0))
	if err != nil {
		return err
	}
	l := run.List("keepit.lint", "findings", "session", "at", "what", "problem", app.Column{Name: "hint", Shrinks: true})
	for _, rev := range revs {
		found, err := markers.LintKeepits(ctx, run.DB, rev)
		if err != nil {
			return err
		}
		for _, f := range found {
			l.Add(app.Object{"sessionId", f.Session.ID, "message", f.Message, "text", f.Text, "problem", f.Problem, "hint", f.Hint},
				app.Cell{Full: f.Session.ID, Short: term.ShortID(f.Session.ID)}, fmt.Sprintf("#%d", f.Message),
				app.Cell{Full: f.Text, Paint: run.Style().Yellow}, f.Problem, f.Hint)
		}
	}
	if err := l.Print(); err != nil || l.Len() == 0 {
		return err
	}
	return app.Exit(app.ExitNo)
}

// lintRevs returns the named session, or all sessions of the project.
func lintRevs(ctx context.Context, run app.Run, name string) ([]state.Rev, error) {
	if name != "" {
		rev, err := run.ResolveSession(ctx, name)
		return []state.Rev{rev}, err
	}
	st, err := trust.Outline(ctx, run.DB, run.Project.ID)
	if err != nil {
		return nil, err
	}
	revs := app.Each(st.Recent(), func(s *state.Session) state.Rev {
		return state.Rev{Kind: state.IsSession, Project: run.Project, Session: s}
	})
	return revs, nil
}
