package sessioncmd

import (
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/names"
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
				return runTagList(c.Context, e)
			}
			return runTag(c.Context, e, e.Operands, o)
		},
	}
}

// A tagAnswer is the JSON form of a tag.
type tagAnswer struct {
	Name    string `json:"name"`
	Session string `json:"sessionId"`
	Version string `json:"version,omitempty"`
	Rev     string `json:"rev"`
	Title   string `json:"title"`
}

func tagOf(t state.Tag) tagAnswer {
	a := tagAnswer{Name: t.Name, Session: t.Session.ID, Rev: term.ShortID(t.Session.ID), Title: t.Session.Title()}
	if t.Version != nil {
		a.Version, a.Rev = t.Version.Name(), names.Label(t.Version)
	}
	return a
}

func runTagList(ctx context.Context, e *app.Env) error {
	return names.WithMemory(ctx, e, func(run names.Run) error {
		tags, err := sessions.Tags(ctx, run.DB, run.Project.ID)
		if err != nil {
			return err
		}
		all := []tagAnswer{}
		for _, t := range tags {
			all = append(all, tagOf(t))
		}
		if e.Opt.JSON {
			return e.PrintJSON("tag", nil, "tags", all)
		}
		t := e.Table(app.Column{Name: "tag"}, app.Column{Name: "rev"}, app.Column{Name: "title", Shrinks: true})
		for _, a := range all {
			whole := a.Session + strings.TrimPrefix(a.Rev, term.ShortID(a.Session))
			t.Row(app.Cell{Full: a.Name}, app.Cell{Full: whole, Short: a.Rev}, app.Cell{Full: a.Title})
		}
		return t.Flush()
	})
}

func runTag(ctx context.Context, e *app.Env, operands []string, o tagOptions) error {
	name := operands[0]
	if _, err := records.ParseName(name); err != nil {
		return app.Usagef("tag: %q is not a valid tag: no blanks, no :#@~=^\\, not the form of a version (v001)", name)
	}
	return names.WithMemory(ctx, e, func(run names.Run) error {
		var rev state.Rev
		var err error
		switch {
		case o.remove:
			if err = sessions.Untag(ctx, run.DB, run.Project, name, e.Opt.DryRun); err == nil && e.Opt.DryRun {
				e.Message("would delete tag %s", e.Safe(name))
			}
		default:
			of := "@"
			if len(operands) > 1 {
				of = operands[1]
			}
			var revs []state.Rev
			if revs, err = run.ResolveAll(ctx, []string{of}); err != nil {
				break
			}
			rev = revs[0]
			if err = sessions.Tag(ctx, run.DB, rev, name, sessions.Edit{Force: o.force, DryRun: e.Opt.DryRun}); err == nil && e.Opt.DryRun {
				e.Message("would tag %s as %s", e.Safe(rev.Name()), e.Safe(name))
			}
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
