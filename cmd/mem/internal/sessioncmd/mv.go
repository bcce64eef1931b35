package sessioncmd

import (
	"context"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/urfave/cli/v2"
)

// Mv returns mem mv.
func Mv(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:      "mv",
		Usage:     "rename a session or a composition",
		ArgsUsage: "<rev> <name>",
		Description: "Changes the title of a session; \"\" restores the title of its transcript. Renames a\n" +
			"composition and its earlier states. Ids of sessions and hashes of compositions stay the\n" +
			"same.",
		Action: app.Action(e, 2, 2, runMv),
	}
}

func runMv(ctx context.Context, run app.Run) error {
	from, to := run.Operand(0), run.Operand(1)
	revs, err := run.ResolveAll(ctx, []string{from})
	if err != nil {
		return err
	}
	rev := revs[0]
	switch rev.Kind {
	case state.IsSession:
		if _, err = records.ParseTitle(to); to == "" {
			err = nil
		}
	case state.IsComposition:
		if err := versioncmd.CheckName(to); err != nil {
			return err
		}
	default:
		err = sessions.ErrKind
	}
	if err != nil {
		return app.Usagef("mv %s: %v", from, err)
	}
	if rev.Kind == state.IsComposition {
		if hidden, err := versioncmd.HidesSession(ctx, run, to); err != nil {
			return err
		} else if hidden {
			return app.Usagef("%q is the start of a session's id; it cannot be the name of a composition", to)
		}
	}
	switch {
	case run.Opt.DryRun:
	case rev.Kind == state.IsSession:
		err = sessions.Retitle(ctx, run.DB, rev, to, sessions.Edit{})
	default:
		err = sessions.RenameComposition(ctx, run.DB, rev, to)
	}
	if err != nil || !run.Opt.JSON {
		return err
	}
	return run.PrintJSON("mv", nil, "dryRun", run.Opt.DryRun, "kind", rev.Kind, "from", revName(rev), "to", to)
}
