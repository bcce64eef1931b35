package sessioncmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
)

// Project returns mem project.
func Project(e *app.Env) *cli.Command {
	var off, all bool
	return &cli.Command{
		Name:  "project",
		Usage: "list projects and link directories to them",
		Description: "A directory belongs to the project of its git repository, as all worktrees of it do. The\n" +
			"same remote, or without one the same first commit, is the same project on every\n" +
			"machine. Without a repository the project is the path. \"mem project link\" corrects this,\n" +
			"and \"mem project unlink\" reverses the link; sessions that were captured meanwhile stay in\n" +
			"their project.",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the projects in memory", Flags: []cli.Flag{app.BoolFlag(&all, "all,a", "also list those whose sessions were moved, hidden or forgotten")},
				Action: e.Action(0, 0, func(c *cli.Context) error { return runProjectList(c.Context, e, all) })},
			{Name: "show", Usage: "show the project of a directory, or that of -p", ArgsUsage: "[<dir>]",
				Action: e.Action(0, 1, func(c *cli.Context) error {
					if dir := e.Operand(0); dir != "" || e.Opt.Project == "" {
						return runProjectShow(c.Context, e, e.Path(dir))
					}
					return runProjectShow(c.Context, e, "")
				})},
			{Name: "link", Usage: "link a directory to a project on this device", ArgsUsage: "<project> [<dir>]",
				Action: e.Action(1, 2, func(c *cli.Context) error {
					return runProjectLink(c.Context, e, e.Operand(0), e.Path(e.Operand(1)))
				})},
			{Name: "unlink", Usage: "remove the link of a directory", ArgsUsage: "[<dir>]",
				Action: e.Action(0, 1, func(c *cli.Context) error {
					return runProjectUnlink(c.Context, e, e.Path(e.Operand(0)))
				})},
			projectMerge(e),
			projectSplit(e),
			projectRelate(e),
			{Name: "share", Usage: "allow compositions of a pushed project to contain text of another",
				ArgsUsage: "<from> <with>",
				Flags:     []cli.Flag{app.BoolFlag(&off, "off", "no longer allow it")},
				Action: e.Action(2, 2, func(c *cli.Context) error {
					return runProjectShare(c.Context, e, e.Operand(0), e.Operand(1), !off)
				})},
		},
	}
}

func runProjectList(ctx context.Context, e *app.Env, all bool) error {
	return app.WithMemory(ctx, e, func(run app.Run) error {
		projects, err := trust.Projects(ctx, run.DB)
		if err != nil {
			return err
		}
		allProjects := []view.Project{}
		for _, p := range projects {
			left, err := trust.Left(ctx, run.DB, p.ID)
			if err != nil {
				return err
			}
			if left && !all && p.ID != run.Project.ID {
				continue
			}
			a, err := view.ProjectOf(ctx, run.DB, p, p.ID == run.Project.ID)
			if err != nil {
				return err
			}
			allProjects = append(allProjects, a)
		}
		if e.Opt.JSON {
			return e.PrintJSON("project.list", nil, "projects", allProjects)
		}
		if len(allProjects) == 0 {
			e.Note("no projects in memory")
			e.Hint("mem import")
		}
		t := e.Table("", "id", app.Column{Name: "project", Max: 24}, app.Column{Name: "sessions", Right: true},
			app.Column{Name: "subagents", Right: true}, app.Column{Name: "versions", Right: true},
			app.Column{Name: "compositions", Right: true}, app.Column{Name: "identity", Shrinks: true, Tail: true})
		for _, a := range allProjects {
			mark := app.Cell{Full: "", Short: " "}
			if a.Current {
				mark = app.Cell{Full: "*", Paint: e.Style().Green}
			}
			t.Row(mark, app.Cell{Full: a.ID, Short: a.ID[:8]}, a.Name, a.Sessions, a.Subagents, a.Versions, a.Compositions,
				a.Identity)
		}
		return t.Flush()
	})
}

func runProjectShow(ctx context.Context, e *app.Env, dir string) error {
	m, err := app.OpenMemory(e)
	if err != nil {
		return err
	}
	defer m.Close()
	var p state.Project
	known := true
	if dir == "" {
		p, err = app.ProjectNamed(ctx, e, m, e.Opt.Project)
	} else {
		p, known, err = projects.Locate(ctx, m.DB, dir)
	}
	if err != nil {
		return err
	}
	a, err := view.ProjectOf(ctx, m.DB, p, false)
	if err != nil {
		return err
	}
	a.Current = dir != ""
	related, err := sessions.RelatedTo(ctx, m.DB, p.ID)
	if err != nil {
		return err
	}
	if e.Opt.JSON {
		return e.PrintJSON("project.show", a, "dir", dir, "known", known, "related", relationObjects(related))
	}
	app.Field(e, "Project", a.Name)
	app.Field(e, "Id", a.ID)
	app.Field(e, "Identity", a.Identity)
	if dir != "" {
		app.Field(e, "Dir", dir)
	}
	if known {
		app.Field(e, "Memory", term.Sessions(a.Sessions, a.Subagents)+", "+term.Count(a.Versions, "version")+", "+
			term.Count(a.Compositions, "composition"))
	} else {
		app.Field(e, "Memory", "nothing of this directory yet")
	}
	for _, r := range related {
		app.Field(e, "Related", fmt.Sprintf("%s of %s: %s", term.ShortID(r.Session.ID), r.From.Name, r.Reason))
	}
	return nil
}

func runProjectLink(ctx context.Context, e *app.Env, name, dir string) error {
	fi, err := os.Stat(dir) // a directory that was removed may have sessions
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && !fi.IsDir() {
		return app.Usagef("%s is not a directory", dir)
	}
	m, err := app.OpenMemory(e)
	if err != nil {
		return err
	}
	defer m.Close()
	p, err := app.ProjectNamed(ctx, e, m, name)
	if err != nil {
		return err
	}
	if !e.Opt.DryRun {
		if err := projects.LinkProject(ctx, m.DB, p, dir); err != nil {
			return err
		}
	}
	return printLinked(e, "project.link", p, dir)
}

func runProjectUnlink(ctx context.Context, e *app.Env, dir string) error {
	m, err := app.OpenMemory(e)
	if err != nil {
		return err
	}
	defer m.Close()
	p, err := projects.UnlinkProject(ctx, m.DB, dir, e.Opt.DryRun)
	if errors.Is(err, projects.ErrNotLinked) {
		return app.WithCode(app.ExitNo, app.WithHint(fmt.Errorf("%s: %w", dir, err),
			term.Shell("mem", "project", "show", dir)))
	}
	if err != nil {
		return err
	}
	return printLinked(e, "project.unlink", p, dir)
}

// printLinked prints the new project of a directory.
func printLinked(e *app.Env, op string, p state.Project, dir string) error {
	if e.Opt.JSON {
		return e.PrintJSON(op, nil, "id", string(p.ID), "name", p.Name, "dir", dir, "dryRun", e.Opt.DryRun)
	}
	verb := "belongs"
	if e.Opt.DryRun {
		verb = "would belong"
	}
	e.Note("%s %s to project %s", dir, verb, p.Name)
	return nil
}
