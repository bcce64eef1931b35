package names

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/memory"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// project returns the project that the run works on: the one that -p names, by name or id, else the one of
// the directory.
func TheProject(ctx context.Context, e *app.Env, m *layers.Memory) (state.Project, error) {
	if e.Opt.Project == "" && e.Dir == app.RemovedDir {
		return state.Project{}, app.WithHint(fmt.Errorf("the current directory was removed: it belongs to no project"),
			"name the project with -p, or a directory with -C")
	}
	if e.Opt.Project != "" {
		return ProjectNamed(ctx, e, m, e.Opt.Project)
	}
	p, _, err := m.Projects().Locate(ctx, e.Dir)
	if err != nil || e.Opt.Dir == "" {
		return p, err
	}
	return p, mustKnow(ctx, e, m, p)
}

// mustKnow refuses a directory of -C that is not there, unless memory has a project of it, one that was removed
// or is another machine's, or Claude Code has sessions of it.
func mustKnow(ctx context.Context, e *app.Env, m *layers.Memory, p state.Project) error {
	if _, err := os.Stat(e.Dir); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if dir, err := e.ClaudeDir(); err == nil {
		if _, err := os.Stat(filepath.Join(dir, "projects", capture.ClientDir(e.Dir))); err == nil {
			return nil
		}
	}
	all, err := m.Trusted().Projects(ctx)
	if err != nil || slices.ContainsFunc(all, func(q state.Project) bool { return q.ID == p.ID }) {
		return err
	}
	return app.WithHint(fmt.Errorf("cannot change to %s: there is no such directory, and no project of it in memory",
		e.Opt.Dir), "mem project list")
}

// Projects returns all projects, for lists and questions: two of one name have the start of their ids behind it.
func Projects(ctx context.Context, m *layers.Memory) ([]state.Project, error) {
	all, err := m.Trusted().Projects(ctx)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(all)
	for i, p := range all {
		out[i].Name = DistinctName(p, all)
	}
	return out, nil
}

// DistinctName is the name of a project, with the start of its id if another one of the list has the same name.
func DistinctName(p state.Project, list []state.Project) string {
	if slices.ContainsFunc(list, func(q state.Project) bool { return q.ID != p.ID && q.Name == p.Name }) {
		return p.Name + " " + string(p.ID[:min(8, len(p.ID))])
	}
	return p.Name
}

// ProjectNamed finds a project by its id or name, or by a directory of it that is named from the root.
func ProjectNamed(ctx context.Context, e *app.Env, m *layers.Memory, name string) (state.Project, error) {
	all, err := m.Trusted().Projects(ctx)
	if err != nil {
		return state.Project{}, err
	}
	var found []state.Project
	var names []string
	guest := m.Devices().WithDevice(ctx, name)
	for _, p := range all {
		names = append(names, p.Name)
		if string(p.ID) == name || p.Name == name || p.Name == guest || len(name) >= 4 &&
			strings.HasPrefix(string(p.ID), name) ||
			name == DistinctName(p, all) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		if filepath.IsAbs(name) {
			p, known, err := m.Projects().Locate(ctx, filepath.Clean(name))
			if err != nil || known {
				return p, err
			}
		}
		err := error(&state.NotFoundError{What: "project", Name: name})
		if near := term.Suggest(name, names); len(near) > 0 {
			return state.Project{}, app.WithHint(err, app.DidYouMean("", near))
		}
		return state.Project{}, app.WithHint(err, "mem project list")
	case 1:
		return found[0], nil
	}
	var ids []string
	for _, p := range found {
		ids = append(ids, string(p.ID[:8])+" ("+strings.TrimPrefix(p.Identity, "path ")+")")
	}
	return state.Project{}, app.WithHint(&state.AmbiguousError{What: "project", Name: name, Candidates: ids},
		"name it by the start of its id: -p "+string(found[0].ID[:8]))
}

// Scope returns where the names of this run are looked up.
func Scope(ctx context.Context, e *app.Env, m *layers.Memory) (state.Scope, error) {
	p, err := TheProject(ctx, e, m)
	return state.Scope{Project: p, Strict: e.Opt.Project != "" && !e.Opt.AllProjects}, err
}

// WithStore opens the memory and calls f, which need not look at the directory that it runs in: that can take
// longer than all else when it is a git repository.
func WithStore(e *app.Env, f func(m *layers.Memory) error) (err error) {
	m, err := memory.Open(e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	return f(m)
}

// Label writes the name of a version of a session.
func Label(v *records.Version) string { return term.ShortID(v.Session) + ":" + v.Name() }

// StoreError adds to an error of the store what can be done about it.
func StoreError(err error) error {
	const sessionFiles = "session files are ~/.claude/projects/*/*.jsonl; see them with \"mem ls --untracked\""
	var behind *originals.BehindError
	var src *capture.SourceError
	switch {
	case errors.As(err, &behind):
		id := term.ShortID(behind.Session.ID)
		return app.WithCode(app.ExitPartial, app.WithHint(err, "run \""+
			term.Shell("mem", "checkout", id+":original")+"\" there",
			"the clean transcript of all of it is here: mem cat-file b3:"+behind.Session.Now().Original.String()))
	case errors.Is(err, state.ErrNotTranscript):
		return app.WithHint(err, sessionFiles)
	case errors.Is(err, capture.ErrChanging):
		return app.WithHint(err,
			"do it again when nothing writes the file anew; one that only grows may be added at any time")
	case errors.Is(err, originals.ErrWithheld):
		return app.WithHint(err, fmt.Sprintf("the clean transcript is here: %q", "mem show SESSION --format text"))
	case errors.As(err, &src) && errors.Is(err, fs.ErrPermission):
		return app.WithHint(err, "make it readable: chmod u+r")
	case errors.As(err, &src):
		return app.WithHint(err, sessionFiles)
	}
	return err
}
