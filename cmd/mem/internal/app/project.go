package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// TheProject returns the project of the run: the one that -p names, by name or id, else the one of the directory.
func TheProject(ctx context.Context, e *Env, m *layers.Memory) (state.Project, error) {
	if e.Opt.Project == "" && e.Dir == RemovedDir {
		return state.Project{}, WithHint(fmt.Errorf("the current directory was removed: it belongs to no project"),
			"name the project with -p, or a directory with -C")
	}
	if e.Opt.Project != "" {
		return ProjectNamed(ctx, e, m, e.Opt.Project)
	}
	p, _, err := projects.Locate(ctx, m.DB, e.Dir)
	return p, err
}

// CheckDir returns an error if the directory of -C does not exist, unless memory has a project of it (removed, or
// of another machine) or Claude Code has sessions of it. It serves every command, also those without a project.
func CheckDir(ctx context.Context, e *Env) error {
	fi, err := os.Stat(e.Dir)
	switch {
	case err == nil && !fi.IsDir():
		return fmt.Errorf("cannot change to %s: it is not a directory", e.Opt.Dir)
	case !errors.Is(err, fs.ErrNotExist):
		return nil
	}
	if dir, err := e.ClaudeDir(); err == nil {
		if _, err := os.Stat(filepath.Join(dir, "projects", capture.ClientDir(e.Dir))); err == nil {
			return nil
		}
	}
	missing := WithHint(fmt.Errorf("cannot change to %s: no such directory, and no project of it in memory",
		e.Opt.Dir), "mem project list")
	m, err := OpenMemory(e)
	if err != nil {
		return missing // without a memory there is no project of it
	}
	defer m.Close()
	p, _, err := projects.Locate(ctx, m.DB, e.Dir)
	if err != nil {
		return err
	}
	all, err := trust.Projects(ctx, m.DB)
	if err != nil || slices.ContainsFunc(all, func(q state.Project) bool { return q.ID == p.ID }) {
		return err
	}
	return missing
}

// Projects returns all projects for lists and questions. Equal names are extended by the start of the id.
func Projects(ctx context.Context, m *layers.Memory) ([]state.Project, error) {
	all, err := trust.Projects(ctx, m.DB)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(all)
	for i, p := range all {
		out[i].Name = DistinctName(p, all)
	}
	return out, nil
}

// OthersNamed returns the names of up to five other projects with sessions, and how many more there are: "shop, blog and
// 3 more", or "".
func (run Run) OthersNamed(ctx context.Context) (string, error) {
	all, err := run.others(ctx)
	known := append(slices.Clone(all), run.Project)
	return term.Some(Each(all, func(p state.Project) string { return DistinctName(p, known) }), 5), err
}

// DistinctName returns the name of p, with the start of its id if another project in the list has the same name.
func DistinctName(p state.Project, list []state.Project) string {
	if slices.ContainsFunc(list, func(q state.Project) bool { return q.ID != p.ID && q.Name == p.Name }) {
		return p.Name + " " + string(p.ID[:min(8, len(p.ID))])
	}
	return p.Name
}

// ProjectNamed finds a project by its id or name, or by an absolute path of one of its directories.
func ProjectNamed(ctx context.Context, e *Env, m *layers.Memory, name string) (state.Project, error) {
	all, err := trust.Projects(ctx, m.DB)
	if err != nil {
		return state.Project{}, err
	}
	var found []state.Project
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
		if string(p.ID) == name || p.Name == name || len(name) >= 4 &&
			strings.HasPrefix(string(p.ID), name) ||
			name == DistinctName(p, all) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		if filepath.IsAbs(name) {
			p, known, err := projects.Locate(ctx, m.DB, filepath.Clean(name))
			if err != nil || known {
				return p, err
			}
		}
		err := error(&state.NotFoundError{What: "project", Name: name})
		if near := term.Suggest(name, names); len(near) > 0 {
			return state.Project{}, WithHint(withUntrustedHint(ctx, m, err), DidYouMean("", near))
		}
		return state.Project{}, WithHint(withUntrustedHint(ctx, m, err), "mem project list")
	case 1:
		return found[0], nil
	}
	ids := Each(found, func(p state.Project) string {
		return string(p.ID[:8]) + " (" + strings.TrimPrefix(p.Identity, "path ") + ")"
	})
	return state.Project{}, WithHint(&state.AmbiguousError{What: "project", Name: name, Candidates: ids},
		"name it by the start of its id: -p "+string(found[0].ID[:8]))
}

// Scope returns the scope in which names of this run are resolved.
func Scope(ctx context.Context, e *Env, m *layers.Memory) (state.Scope, error) {
	p, err := TheProject(ctx, e, m)
	return state.Scope{Project: p, Strict: e.Opt.Project != "" && !e.Opt.AllProjects}, err
}

// LinkCommand returns the command that links a directory to the project p. It is shorter in the directory itself, here.
func LinkCommand(here, dir string, p state.Project) string {
	words := []string{"mem", "project", "link", string(p.ID[:8])}
	if dir != here {
		words = append(words, dir)
	}
	return term.Shell(words...)
}
