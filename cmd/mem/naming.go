package main

import (
	"context"
	"errors"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/naming"
	bodies "github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// mv is the command that renames sessions and compositions.
func (e *Env) mv() *cli.Command {
	return &cli.Command{
		Name:      "mv",
		Usage:     "rename a session or a composition",
		ArgsUsage: "<rev> <name>",
		Description: "A session gets another title; \"\" restores the title of its transcript. A composition and its earlier states get another\n" +
			"name. The id of a session and the hash of a composition stay the same.",
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 2, 2); err != nil {
				return err
			}
			return e.runMv(ctx, e.operand(0), e.operand(1))
		},
	}
}

func (e *Env) runMv(ctx context.Context, from, to string) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		revs, err := e.resolveAll(ctx, m, sc, []string{from})
		if err != nil {
			return err
		}
		rev := revs[0]
		switch rev.Kind {
		case state.IsSession:
			if _, err = bodies.ParseTitle(to); to == "" {
				err = nil
			}
		case state.IsComposition:
			_, err = bodies.ParseName(to)
		default:
			err = naming.ErrKind
		}
		if err != nil {
			return usagef("mv %s: %v", from, err)
		}
		if !e.opt.dryRun {
			if rev.Kind == state.IsSession {
				err = m.Naming().Retitle(ctx, rev, to)
			} else {
				err = m.Naming().RenameComposition(ctx, rev, to)
			}
		}
		if err != nil {
			return err
		}
		if e.opt.json {
			return e.printJSON("mv", struct {
				DryRun bool   `json:"dry_run"`
				Kind   string `json:"kind"`
				From   string `json:"from"`
				To     string `json:"to"`
			}{e.opt.dryRun, string(rev.Kind), revName(rev), to})
		}
		return nil
	})
}

type tagOptions struct {
	remove, force bool
}

// tag is the command that lists, creates and deletes tags.
func (e *Env) tag() *cli.Command {
	var o tagOptions
	return &cli.Command{
		Name:      "tag",
		Usage:     "list, create or delete tags of sessions and versions",
		ArgsUsage: "[<name> [<rev>]]",
		Description: "Without operands, lists the tags of the project. With a name, tags a session or a version, by default the newest session. A tag\n" +
			"can be typed wherever a session or a version can.",
		Flags: []*cli.Flag{
			cli.Bool(&o.remove, "delete,d", "delete the tag"),
			cli.Bool(&o.force, "force,f", "move a tag that exists"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			least, most := 0, 2
			if o.remove {
				least, most = 1, 1
			}
			if err := e.wantOperands(c, least, most); err != nil {
				return err
			}
			if len(e.operands) == 0 {
				return e.runTagList(ctx)
			}
			return e.runTag(ctx, e.operands, o)
		},
	}
}

// A tagAnswer is a tag, as --json prints it.
type tagAnswer struct {
	Name    string `json:"name"`
	Session string `json:"session"`
	Version string `json:"version,omitempty"`
	Rev     string `json:"rev"`
	Title   string `json:"title"`
}

func tagOf(t state.Tag) tagAnswer {
	a := tagAnswer{Name: t.Name, Session: t.Session.ID, Rev: shortID(t.Session.ID), Title: t.Session.Title()}
	if t.Version != nil {
		a.Version, a.Rev = t.Version.Name(), label(t.Version)
	}
	return a
}

func (e *Env) runTagList(ctx context.Context) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		tags, err := m.Naming().Tags(ctx, sc.Project.ID)
		if err != nil {
			return err
		}
		all := []tagAnswer{}
		for _, t := range tags {
			all = append(all, tagOf(t))
		}
		if e.opt.json {
			return e.printJSON("tag", struct {
				Tags []tagAnswer `json:"tags"`
			}{all})
		}
		t := e.table(column{name: "tag"}, column{name: "rev"}, column{name: "title", shrinks: true})
		for _, a := range all {
			t.row(cell{full: a.Name}, cell{full: a.Rev}, cell{full: a.Title})
		}
		return t.flush()
	})
}

func (e *Env) runTag(ctx context.Context, operands []string, o tagOptions) error {
	name := operands[0]
	if _, err := bodies.ParseName(name); err != nil {
		return usagef("tag: %q is not a valid tag: no blanks, no :#@~=^\\, not the form of a version (v001)", name)
	}
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		var rev state.Rev
		var err error
		switch {
		case o.remove && e.opt.dryRun:
			return nil
		case o.remove:
			err = m.Naming().Untag(ctx, sc.Project, name)
		default:
			of := "@"
			if len(operands) > 1 {
				of = operands[1]
			}
			var revs []state.Rev
			if revs, err = e.resolveAll(ctx, m, sc, []string{of}); err == nil && !e.opt.dryRun {
				rev = revs[0]
				err = m.Naming().Tag(ctx, rev, name, o.force)
			}
		}
		switch {
		case errors.Is(err, naming.ErrNoTag):
			return withHint(err, "mem tag")
		case errors.Is(err, naming.ErrTaken) && !o.force:
			return withHint(err, "mem tag -f "+name+" ...")
		case errors.Is(err, naming.ErrKind):
			return usagef("%v", err)
		}
		return err
	})
}
