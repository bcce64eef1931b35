package sessioncmd

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/state"
)

// Rm returns mem rm.
func Rm(e *app.Env) *cli.Command {
	var o versioncmd.PruneOptions
	var again bool
	return &cli.Command{
		Name:      "rm",
		Usage:     "hide sessions, versions or compositions",
		ArgsUsage: "<rev>...",
		Description: "Nothing is deleted: the bytes stay in the memory, \"mem ls -a\" lists what is hidden, and\n" +
			"\"mem rm --undo\" shows it again, whichever device hid it. It asks in a terminal only. A version that a composition uses\n" +
			"is only hidden with --force; the composition keeps its own copy.\n\n" +
			"--older-than, --keep-last, --unused and --expired choose versions, of all sessions or\n" +
			"of the one that is named. The newest version of each session stays, unless --keep-last\n" +
			"says otherwise. Without a session, only versions that mem made for compositions and\n" +
			"tiers are hidden, not those that you made with \"mem compress\".",
		Flags: append([]cli.Flag{
			app.BoolFlag(&again, "undo", "show hidden sessions, versions or compositions again"),
			app.BoolFlag(&o.Expired, "expired", "hide versions older than storage.compressionRetention"),
		}, o.Flags()...),
		Action: func(c *cli.Context) error {
			if o.Expired || o.Unused || o.OlderThan != "" || c.IsSet("keep-last") {
				return versioncmd.DoPrune(e, c, o)
			}
			if err := e.WantOperands(c, 1, -1); err != nil {
				return err
			}
			return app.WithMemory(c.Context, e, func(run app.Run) error {
				revs, err := run.ResolveAll(c.Context, e.Operands)
				switch {
				case err != nil:
					return err
				case again:
					return removeError(runShowAgain(c.Context, run, revs))
				}
				return removeError(runRm(c.Context, run, revs, o.Force))
			})
		},
	}
}

// runShowAgain shows hidden things again.
func runShowAgain(ctx context.Context, run app.Run, revs []state.Rev) error {
	if !run.Opt.DryRun {
		if err := derive.ShowAll(ctx, run.DB, revs); err != nil {
			return err
		}
	}
	for _, rev := range revs {
		if !rev.Hidden() {
			run.Note("%s %s is not hidden", rev.Kind, revName(rev))
		}
	}
	return printHidden(run, "shown", slices.DeleteFunc(revs, func(r state.Rev) bool { return !r.Hidden() }),
		run.Verb("shown again:", "would show again:"))
}

func runRm(ctx context.Context, run app.Run, revs []state.Rev, force bool) error {
	if err := derive.RemoveAll(ctx, run.DB, revs, force, true); err != nil { // before the question
		return err
	}
	for _, rev := range revs {
		if rev.Hidden() {
			run.Note("%s %s is hidden already", rev.Kind, revName(rev))
		}
	}
	revs = slices.DeleteFunc(revs, state.Rev.Hidden)
	if run.Term.Stdin && len(revs) > 0 { // scripts need no confirmation: rm can be undone
		one := app.If(len(revs) == 1, string(revs[0].Kind)+" "+revName(revs[0]))
		if ok, err := run.Confirm("hide %s?", cmp.Or(one, term.Count(len(revs), "thing"))); err != nil || !ok {
			return err
		}
	}
	if !run.Opt.DryRun {
		if err := derive.RemoveAll(ctx, run.DB, revs, force, false); err != nil {
			return err
		}
	}
	if err := printHidden(run, "removed", revs, run.Verb("hidden:", "would hide:")); err != nil {
		return err
	}
	if len(revs) > 0 && !run.Opt.DryRun {
		undo := run.Typed("mem", "undo")
		if p := revs[0].Project; run.Opt.Project == "" && p.ID != run.Project.ID {
			undo = term.Shell("mem", "undo", "-p", p.Name)
		}
		run.Hint("%s shows %s again", undo, map[bool]string{true: "it", false: "them"}[len(revs) == 1])
	}
	return nil
}

// printHidden prints what was hidden or is shown again, as the member key of the JSON.
func printHidden(run app.Run, key string, revs []state.Rev, verb string) error {
	things := []app.Object{}
	for _, rev := range revs {
		things = append(things, app.Object{"kind", rev.Kind, "name", revName(rev)})
		if !run.Opt.JSON {
			run.Note("%s %s %s", verb, rev.Kind, revName(rev))
		}
	}
	if !run.Opt.JSON {
		return nil
	}
	return run.PrintJSON("rm", nil, "dryRun", run.Opt.DryRun, key, things)
}

// removeError adds hints to an error of a removal.
func removeError(err error) error {
	var used *derive.UsedError
	switch {
	case errors.As(err, &used):
		return app.WithHint(err, "see it with \""+term.Shell("mem", "show", used.By[0])+
			"\"; hide it anyway with -f: compositions keep their own copy")
	case errors.Is(err, state.ErrNotRemovable):
		return app.WithHint(app.Usagef("%v", err), "leave a message, fact or rule out of the hand-over: mem next --drop",
			"delete text permanently: mem forget")
	}
	return err
}

// revName returns the canonical name of a revision.
func revName(rev state.Rev) string {
	switch {
	case rev.Version != nil:
		return app.Label(rev.Version)
	case rev.Composition != nil:
		return rev.Composition.Name
	case rev.Session != nil:
		return term.ShortID(rev.Session.ID)
	case rev.Commit != "":
		return rev.Commit
	}
	return "b3:" + rev.Hash.String()
}
