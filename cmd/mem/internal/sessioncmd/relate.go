package sessioncmd

import (
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/sessions"
)

type relateOptions struct {
	to     string
	reason string
	off    bool
}

// projectRelate returns mem project relate.
func projectRelate(e *app.Env) *cli.Command {
	var o relateOptions
	return &cli.Command{
		Name: "relate", Usage: "relate a session to another project", ArgsUsage: "<session>",
		Description: "\"mem search --related\" and \"mem suggest --related\" in that project include the session,\n" +
			"and \"mem project show\" lists it. Nothing is copied: the relation is a record in the\n" +
			"session's project and is forgotten with the session.",
		Flags: []cli.Flag{
			app.StringFlag(&o.to, "to", "the other `PROJECT`"),
			app.ParsedFlag(&o.reason, "reason", "why, such as \"shared code\": `TEXT`", relationReason),
			app.BoolFlag(&o.off, "off", "remove the relation"),
		},
		Action: e.Action(1, 1, func(c *cli.Context) error {
			usage := "mem project relate abc1 --to shop --reason 'shared code'"
			switch {
			case o.to == "":
				return app.WithHint(app.Usagef("option --to is missing"), usage)
			case o.reason == "" && !o.off:
				return app.WithHint(app.Usagef("option --reason is missing"), usage)
			case o.reason != "" && o.off:
				return app.Usagef("options --reason and --off cannot be combined")
			}
			return app.WithMemory(c.Context, e, func(run app.Run) error { return runProjectRelate(c.Context, run, o) })
		}),
	}
}

func runProjectRelate(ctx context.Context, run app.Run, o relateOptions) error {
	rev, err := run.ResolveSession(ctx, run.Operand(0))
	if err != nil {
		return err
	}
	to, err := app.ProjectNamed(ctx, run.Env, run.Memory, o.to)
	if err != nil {
		return err
	}
	name, verb := term.ShortID(rev.Session.ID), run.Verb("is", "would be")
	if o.off {
		verb = run.Verb("is no longer", "would no longer be")
	}
	switch {
	case rev.Project.ID == to.ID:
		err = sessions.ErrOwn
	case run.Opt.DryRun:
	case o.off:
		err = sessions.Unrelate(ctx, run.DB, rev, to.ID)
	default:
		err = sessions.Relate(ctx, run.DB, rev, to.ID, o.reason)
	}
	switch {
	case errors.Is(err, sessions.ErrOwn):
		return app.Usagef("%s is a session of %s already", name, to.Name)
	case errors.Is(err, sessions.ErrNotRelated):
		return app.WithCode(app.ExitNo, app.WithHint(err, term.Shell("mem", "project", "show")))
	case err != nil:
		return err
	}
	made := sessions.Relation{From: rev.Project, Session: rev.Session, To: to.ID, Time: run.Now(), Reason: o.reason}
	return run.Did("project.relate", append(relationObject(made), "removed", o.off), "%s of %s %s related to %s", name,
		rev.Project.Name, verb, to.Name)
}

// relationObject returns the JSON form of a relation, with the member names of the seeds.
func relationObject(r sessions.Relation) app.Object {
	return app.Object{"sourceProject", r.From.ID, "sourceSession", r.Session.ID, "targetProject", r.To,
		"linkedAt", term.TimeText(r.Time), "reason", r.Reason}
}

// relationReason checks a reason: one line of at most 200 bytes.
func relationReason(s string) (string, error) {
	t, err := records.ParseTitle(strings.Join(strings.Fields(s), " "))
	return string(t), err
}
