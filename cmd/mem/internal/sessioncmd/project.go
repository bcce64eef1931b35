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
				Action: app.Action(e, 0, 0, func(ctx context.Context, run app.Run) error { return runProjectList(ctx, run, all) })},
			{Name: "show", Usage: "show the project of a directory, or that of -p", ArgsUsage: "[<dir>]",
				Action: app.StoreAction(e, 0, 1, runProjectShow)},
			{Name: "link", Usage: "link a directory to a project on this device", ArgsUsage: "<project> [<dir>]",
				Action: app.StoreAction(e, 1, 2, runProjectLink)},
			{Name: "unlink", Usage: "remove the link of a directory", ArgsUsage: "[<dir>]",
				Action: app.StoreAction(e, 0, 1, runProjectUnlink)},
			projectMerge(e),
			projectSplit(e),
			projectRelate(e),
			{Name: "share", Usage: "allow compositions of a pushed project to contain text of another",
				ArgsUsage: "<from> <with>",
				Flags:     []cli.Flag{app.BoolFlag(&off, "off", "no longer allow it")},
				Action:    app.StoreAction(e, 2, 2, func(ctx context.Context, run app.Run) error { return runProjectShare(ctx, run, !off) })},
		},
	}
}

func runProjectList(ctx context.Context, run app.Run, all bool) error {
	projects, err := trust.Projects(ctx, run.DB)
	if err != nil {
		return err
	}
	l := run.List("project.list", "projects", "", "id", app.Column{Name: "project", Max: 24},
		app.Column{Name: "sessions", Right: true}, app.Column{Name: "subagents", Right: true},
		app.Column{Name: "versions", Right: true}, app.Column{Name: "compositions", Right: true},
		app.Column{Name: "identity", Shrinks: true, Tail: true})
	l.None, l.Hint = "no projects in memory", "mem import"
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
		mark := app.Cell{Full: "", Short: " "}
		if a.Current {
			mark = app.Cell{Full: "*", Paint: run.Style().Green}
		}
		l.Add(a, mark, app.Cell{Full: a.ID, Short: a.ID[:8]}, a.Name, a.Sessions, a.Subagents, a.Versions, a.Compositions,
			a.Identity)
	}
	return l.Print()
}

func runProjectShow(ctx context.Context, run app.Run) (err error) {
	var p state.Project
	known, dir := true, ""
	if run.Operand(0) == "" && run.Opt.Project != "" {
		p, err = app.ProjectNamed(ctx, run.Env, run.Memory, run.Opt.Project)
	} else {
		dir = run.Path(run.Operand(0))
		p, known, err = projects.Locate(ctx, run.DB, dir)
	}
	if err != nil {
		return err
	}
	a, err := view.ProjectOf(ctx, run.DB, p, dir != "")
	if err != nil {
		return err
	}
	related, err := sessions.RelatedTo(ctx, run.DB, p.ID)
	if err != nil {
		return err
	}
	if run.Opt.JSON {
		return run.PrintJSON("project.show", a, "dir", dir, "known", known, "related", app.Each(related, relationObject))
	}
	has := "nothing of this directory yet"
	if known {
		has = term.Sessions(a.Sessions, a.Subagents) + ", " + term.Count(a.Versions, "version") + ", " +
			term.Count(a.Compositions, "composition")
	}
	run.Describe("Project", a.Name, "Id", a.ID, "Identity", a.Identity, "Dir", dir, "Memory", has)
	for _, r := range related {
		run.Describe("Related", fmt.Sprintf("%s of %s: %s", term.ShortID(r.Session.ID), r.From.Name, r.Reason))
	}
	return nil
}

func runProjectLink(ctx context.Context, run app.Run) error {
	dir := run.Path(run.Operand(1))
	fi, err := os.Stat(dir) // a directory that was removed may have sessions
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && !fi.IsDir() {
		return app.Usagef("%s is not a directory", dir)
	}
	p, err := app.ProjectNamed(ctx, run.Env, run.Memory, run.Operand(0))
	if err != nil {
		return err
	}
	if !run.Opt.DryRun {
		if err := projects.LinkProject(ctx, run.DB, p, dir); err != nil {
			return err
		}
	}
	return printLinked(run, "project.link", p, dir)
}

func runProjectUnlink(ctx context.Context, run app.Run) error {
	dir := run.Path(run.Operand(0))
	p, err := projects.UnlinkProject(ctx, run.DB, dir, run.Opt.DryRun)
	if errors.Is(err, projects.ErrNotLinked) {
		return app.WithCode(app.ExitNo, app.WithHint(fmt.Errorf("%s: %w", dir, err),
			term.Shell("mem", "project", "show", dir)))
	}
	if err != nil {
		return err
	}
	return printLinked(run, "project.unlink", p, dir)
}

// printLinked prints the new project of a directory.
func printLinked(run app.Run, op string, p state.Project, dir string) error {
	return run.Did(op, app.Object{"id", p.ID, "name", p.Name, "dir", dir}, "%s %s to project %s", dir,
		run.Verb("belongs", "would belong"), p.Name)
}

// runProjectShare allows or forbids that compositions of one project with text of another are pushed.
func runProjectShare(ctx context.Context, run app.Run, allowed bool) error {
	a, err := app.ProjectNamed(ctx, run.Env, run.Memory, run.Operand(0))
	if err != nil {
		return err
	}
	b, err := app.ProjectNamed(ctx, run.Env, run.Memory, run.Operand(1))
	if err != nil {
		return err
	}
	if a.ID == b.ID {
		return app.Usagef("%s and %s are one project", run.Operand(0), run.Operand(1))
	}
	if !run.Opt.DryRun {
		if err := projects.Share(ctx, run.DB, a, b, allowed); err != nil {
			return err
		}
	}
	return run.Did("project.share", app.Object{"from", a.ID, "with", b.ID, "allowed", allowed},
		"%stext of %s %s be used in compositions of %s", run.Verb("", "would record: "), a.Name,
		map[bool]string{true: "may", false: "must not"}[allowed], b.Name)
}
