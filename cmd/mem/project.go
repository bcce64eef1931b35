package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
)

// project is the command about projects and the directories that belong to them.
func (e *Env) project() *cli.Command {
	var off bool
	return &cli.Command{
		Name:  "project",
		Usage: "list projects and link directories to them",
		Description: "A directory belongs to the project of its git repository: the same origin, or else the same first commit, is the\n" +
			"same project on every machine. Without a repository it is the path; \"mem project link\" corrects it, and\n" +
			"\"mem project unlink\" takes that back: what was captured meanwhile stays in the project that it was captured in.",
		Commands: []*cli.Command{
			{Name: "list", Usage: "list the projects in memory", Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 0, 0); err != nil {
					return err
				}
				return e.runProjectList(ctx)
			}},
			{Name: "show", Usage: "show the project of a directory", ArgsUsage: "[<dir>]", Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 0, 1); err != nil {
					return err
				}
				return e.runProjectShow(ctx, e.path(e.operand(0)))
			}},
			{Name: "link", Usage: "link a directory to a project on this device", ArgsUsage: "<project> [<dir>]", Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 1, 2); err != nil {
					return err
				}
				return e.runProjectLink(ctx, e.operand(0), e.path(e.operand(1)))
			}},
			{Name: "unlink", Usage: "remove the link of a directory", ArgsUsage: "[<dir>]", Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 0, 1); err != nil {
					return err
				}
				return e.runProjectUnlink(ctx, e.path(e.operand(0)))
			}},
			{Name: "share", Usage: "allow compositions of a pushed project to contain text of another", ArgsUsage: "<from> <with>",
				Flags: []*cli.Flag{cli.Bool(&off, "off", "no more")},
				Action: func(ctx context.Context, c *cli.Command) error {
					if err := e.wantOperands(c, 2, 2); err != nil {
						return err
					}
					return e.runProjectShare(ctx, e.operand(0), e.operand(1), !off)
				}},
		},
	}
}

// A projectAnswer is a project as --json prints it.
type projectAnswer struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Identity string `json:"identity"`
	Sessions int    `json:"sessions"`
	Versions int    `json:"versions"`
	Composed int    `json:"compositions"`
	Current  bool   `json:"current"`
}

// describeProject counts what is in a project.
func describeProject(ctx context.Context, m *layers.Memory, p state.Project) (projectAnswer, error) {
	a := projectAnswer{ID: string(p.ID), Name: p.Name, Identity: p.Identity}
	st, err := m.Trusted().Outline(ctx, p.ID)
	if err != nil {
		return a, err
	}
	for _, s := range st.Sessions {
		if !s.Deleted && s.Guest == "" {
			a.Sessions++
		}
	}
	for _, v := range st.Versions {
		if !v.Deleted && !v.Guest() {
			a.Versions++
		}
	}
	names := map[string]bool{}
	for _, c := range st.Compositions {
		if !c.Deleted && !st.Stranger(c.Device) {
			names[c.Name] = true
		}
	}
	a.Composed = len(names)
	return a, nil
}

func (e *Env) runProjectList(ctx context.Context) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		projects, err := m.Trusted().Projects(ctx)
		if err != nil {
			return err
		}
		answer := struct {
			Projects []projectAnswer `json:"projects"`
		}{[]projectAnswer{}}
		for _, p := range projects {
			a, err := describeProject(ctx, m, p)
			if err != nil {
				return err
			}
			a.Current = p.ID == sc.Project.ID
			answer.Projects = append(answer.Projects, a)
		}
		if e.opt.json {
			return e.printJSON("project.list", answer)
		}
		if len(answer.Projects) == 0 {
			e.note("no projects in memory")
			e.hint("mem import")
		}
		t := e.table(column{name: ""}, column{name: "id"}, column{name: "project", most: 24}, column{name: "sessions", right: true},
			column{name: "versions", right: true}, column{name: "compositions", right: true}, column{name: "identity", shrinks: true, tail: true})
		for _, a := range answer.Projects {
			mark := cell{full: "", short: " "}
			if a.Current {
				mark = cell{full: "*", paint: e.style().green}
			}
			t.row(mark, cell{full: a.ID, short: a.ID[:8]}, cell{full: a.Name}, cell{full: fmt.Sprint(a.Sessions)}, cell{full: fmt.Sprint(a.Versions)},
				cell{full: fmt.Sprint(a.Composed)}, cell{full: a.Identity})
		}
		return t.flush()
	})
}

func (e *Env) runProjectShow(ctx context.Context, dir string) error {
	m, err := e.memory()
	if err != nil {
		return err
	}
	defer m.Close()
	p, known, err := m.Projects().Locate(ctx, dir)
	if err != nil {
		return err
	}
	a, err := describeProject(ctx, m, p)
	if err != nil {
		return err
	}
	a.Current = true
	if e.opt.json {
		return e.printJSON("project.show", struct {
			projectAnswer
			Dir   string `json:"dir"`
			Known bool   `json:"known"`
		}{a, dir, known})
	}
	e.field("Project", a.Name)
	e.field("Id", a.ID)
	e.field("Identity", a.Identity)
	e.field("Dir", dir)
	if !known {
		e.field("Memory", "nothing of this directory yet")
		return nil
	}
	e.field("Memory", count(a.Sessions, "session")+", "+count(a.Versions, "version")+", "+count(a.Composed, "composition"))
	return nil
}

func (e *Env) runProjectLink(ctx context.Context, name, dir string) error {
	if fi, err := os.Stat(dir); err != nil {
		return err
	} else if !fi.IsDir() {
		return usagef("%s is not a directory", dir)
	}
	m, err := e.memory()
	if err != nil {
		return err
	}
	defer m.Close()
	p, err := e.projectNamed(ctx, m, name)
	if err != nil {
		return err
	}
	if !e.opt.dryRun {
		if err := m.Projects().LinkProject(ctx, p, dir); err != nil {
			return err
		}
	}
	return e.printLinked("project.link", p, dir)
}

func (e *Env) runProjectUnlink(ctx context.Context, dir string) error {
	m, err := e.memory()
	if err != nil {
		return err
	}
	defer m.Close()
	p, err := m.Projects().UnlinkProject(ctx, dir, e.opt.dryRun)
	if errors.Is(err, projects.ErrNotLinked) {
		return withCode(exitNo, withHint(fmt.Errorf("%s: %w", dir, err), shell("mem", "project", "show", dir)))
	}
	if err != nil {
		return err
	}
	return e.printLinked("project.unlink", p, dir)
}

// printLinked says which project a directory belongs to from now on.
func (e *Env) printLinked(op string, p state.Project, dir string) error {
	if e.opt.json {
		return e.printJSON(op, struct {
			ID     string `json:"id"`
			Name   string `json:"name"`
			Dir    string `json:"dir"`
			DryRun bool   `json:"dry_run"`
		}{string(p.ID), p.Name, dir, e.opt.dryRun})
	}
	verb := "belongs"
	if e.opt.dryRun {
		verb = "would belong"
	}
	e.note("%s %s to project %s", dir, verb, p.Name)
	return nil
}
