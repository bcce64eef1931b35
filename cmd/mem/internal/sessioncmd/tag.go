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
	"github.com/memvcs/mem/layers/state"
)

type tagOptions struct {
	remove, force bool
}

// Tag returns mem tag.
func Tag(e *app.Env) *cli.Command {
	var o tagOptions
	return &cli.Command{
		Name:      "tag",
		Usage:     "list, create or delete tags of sessions and versions",
		ArgsUsage: "[<name> [<rev>]]",
		Description: "Without operands, lists the tags of the project. With a name, tags a session or a\n" +
			"version, by default the newest session. A tag can be used wherever a session or version\n" +
			"is named.",
		Flags: []cli.Flag{
			app.BoolFlag(&o.remove, "delete,d", "delete the tag"),
			app.BoolFlag(&o.force, "force,f", "move a tag that exists"),
		},
		Action: func(c *cli.Context) error {
			least, most := 0, 2
			if o.remove {
				least, most = 1, 1
			}
			if err := e.WantOperands(c, least, most); err != nil {
				return err
			}
			if len(e.Operands) == 0 {
				return app.WithMemory(c.Context, e, func(run app.Run) error { return runTagList(c.Context, run) })
			}
			return runTag(c.Context, e, o)
		},
	}
}

func runTagList(ctx context.Context, run app.Run) error {
	tags, err := sessions.Tags(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	l := run.List("tag", "tags", "tag", "rev", app.Column{Name: "title", Shrinks: true})
	for _, t := range tags {
		rev, version := term.ShortID(t.Session.ID), ""
		if t.Version != nil {
			rev, version = app.Label(t.Version), t.Version.Name()
		}
		whole := t.Session.ID + strings.TrimPrefix(rev, term.ShortID(t.Session.ID))
		l.Add(app.Object{"name", t.Name, "sessionId", t.Session.ID, "version,omitempty", version, "rev", rev, "title", t.Session.Title()},
			t.Name, app.Cell{Full: whole, Short: rev}, t.Session.Title())
	}
	return l.Print()
}

func runTag(ctx context.Context, e *app.Env, o tagOptions) error {
	name := e.Operand(0)
	if _, err := records.ParseName(name); err != nil {
		return app.Usagef("tag: %q is not a valid tag: no blanks, no :#@~=^\\, not the form of a version (v001)", name)
	}
	return app.WithMemory(ctx, e, func(run app.Run) error {
		var err error
		did := ""
		if o.remove {
			err, did = sessions.Untag(ctx, run.DB, run.Project, name, e.Opt.DryRun), "delete tag "+name
		} else {
			var revs []state.Rev
			if revs, err = run.ResolveAll(ctx, []string{app.OrNewest(e.Operand(1))}); err != nil {
				return err
			}
			err = sessions.Tag(ctx, run.DB, revs[0], name, sessions.Edit{Force: o.force, DryRun: e.Opt.DryRun})
			did = "tag " + revs[0].Name() + " as " + name
		}
		if err == nil && e.Opt.DryRun {
			e.Message("would %s", did)
		}
		switch {
		case errors.Is(err, sessions.ErrNoTag):
			return app.WithHint(err, "mem tag")
		case errors.Is(err, sessions.ErrTaken) && !o.force:
			return app.WithHint(err, "mem tag -f "+name+" ...")
		case errors.Is(err, sessions.ErrKind):
			return app.Usagef("%v", err)
		}
		return err
	})
}
