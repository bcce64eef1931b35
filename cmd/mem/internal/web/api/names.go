package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// PlainName reports whether s can be a name in a URL: no revision syntax, no path, no invisible characters.
func PlainName(s string) bool {
	return s != "" && len(s) <= 200 && s != "." && s != ".." &&
		!strings.ContainsFunc(s, func(r rune) bool {
			return strings.ContainsRune(`:#@^{}\/*?<>|"`, r) || !unicode.IsGraphic(r)
		})
}

// NoSuch returns the error for an unknown name.
func NoSuch(what, name string) error {
	return NewProblem(http.StatusNotFound, "not_found", "no "+what+" is called '"+name+"'")
}

// Projects returns the projects that this server shows.
func (s *API) Projects(ctx context.Context) ([]state.Project, error) {
	all, err := trust.Projects(ctx, s.Memory.DB)
	if s.Scope.Strict {
		all = slices.DeleteFunc(all, func(p state.Project) bool { return p.ID != s.Scope.Project.ID })
	}
	slices.SortStableFunc(all, func(a, b state.Project) int { return strings.Compare(a.Name, b.Name) })
	return all, err
}

// Listed returns the projects that lists show: see [trust.Left].
func (s *API) Listed(ctx context.Context) (out []state.Project, err error) {
	all, err := s.Projects(ctx)
	for _, p := range all {
		left, lerr := trust.Left(ctx, s.Memory.DB, p.ID)
		if err = errors.Join(err, lerr); !left || p.ID == s.Scope.Project.ID {
			out = append(out, p)
		}
	}
	return out, err
}

// Project finds a project by its id, a prefix of it, or its name if that is unambiguous.
func (s *API) Project(ctx context.Context, name string) (state.Project, error) {
	all, err := s.Projects(ctx)
	if err != nil {
		return state.Project{}, err
	}
	var found []state.Project
	for _, p := range all {
		if string(p.ID) == name {
			return p, nil
		}
		if p.Name == name || len(name) >= 4 && strings.HasPrefix(string(p.ID), name) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return state.Project{}, NoSuch("project", name)
	case 1:
		return found[0], nil
	}
	return state.Project{}, NewProblem(http.StatusBadRequest, "ambiguous", "several projects are named '"+name+"'",
		"use the id")
}

// resolve resolves a revision in the projects that this server shows.
func (s *API) resolve(ctx context.Context, sc state.Scope, name string) (state.Rev, error) {
	rev, err := revision.Resolve(ctx, s.Memory.DB, sc, name)
	if err == nil && s.Scope.Strict && rev.Project.ID != s.Scope.Project.ID {
		return rev, NoSuch("revision", name)
	}
	return rev, err
}

// Session finds a session by its id or a prefix of it.
func (s *API) Session(ctx context.Context, id string) (state.Rev, error) {
	if !PlainName(id) {
		return state.Rev{}, NoSuch("session", id)
	}
	rev, err := s.resolve(ctx, s.Scope, id)
	if err == nil && rev.Kind != state.IsSession {
		return rev, NoSuch("session", id)
	}
	return rev, err
}

// Version finds a version of a session by its label.
func (s *API) Version(ctx context.Context, id, label string) (state.Rev, error) {
	rev, err := s.Session(ctx, id)
	if err != nil {
		return rev, err
	}
	if base, _, _ := strings.Cut(label, "~"); !PlainName(label) || !revision.IsLabel(base) && label != "latest" {
		return rev, NoSuch("version", label)
	}
	found, err := s.resolve(ctx, state.Scope{Project: rev.Project, Last: rev.Session, Strict: true},
		rev.Session.ID+":"+label)
	if err == nil && found.Version.Deleted {
		return found, NewProblem(http.StatusNotFound, "not_found", label+" is hidden", "mem undo", "mem ls SESSION -a")
	}
	return found, err
}

// composition finds a composition by its id, or by its name in the first project, else in the only other one with it.
func (s *API) composition(ctx context.Context, id string) (state.Rev, error) {
	all, err := s.Projects(ctx)
	if err != nil {
		return state.Rev{}, err
	}
	var homes []state.Project
	var named []*records.Composition
	for _, p := range all {
		st, err := trust.Outline(ctx, s.Memory.DB, p.ID)
		if err != nil {
			return state.Rev{}, err
		}
		for _, c := range st.Named() {
			if compose.ID(c.Derivation.Output) == id {
				return revision.RevOf(ctx, s.Memory.DB, p, nil, c)
			}
			if c.Name == id {
				homes, named = append(homes, p), append(named, c)
			}
		}
	}
	i := slices.IndexFunc(homes, func(p state.Project) bool { return p.ID == s.Scope.Project.ID })
	switch {
	case len(named) == 0:
		return state.Rev{}, NoSuch("composition", id)
	case i < 0 && len(named) > 1:
		return state.Rev{}, NewProblem(http.StatusBadRequest, "ambiguous",
			"several projects have a composition named '"+id+"'", "use the id")
	}
	return revision.RevOf(ctx, s.Memory.DB, homes[max(i, 0)], nil, named[max(i, 0)])
}

// CompositionIn finds a composition of a project by its name.
func (s *API) CompositionIn(ctx context.Context, p state.Project, name string) (state.Rev, error) {
	st, err := trust.Outline(ctx, s.Memory.DB, p.ID)
	if err != nil {
		return state.Rev{}, err
	}
	for _, c := range st.Named() {
		if c.Name == name {
			return revision.RevOf(ctx, s.Memory.DB, p, nil, c)
		}
	}
	return state.Rev{}, NoSuch("composition", name)
}

// ScopeOf returns the scope for names in a project.
func (s *API) ScopeOf(p state.Project) state.Scope {
	return state.Scope{Project: p, Strict: s.Scope.Strict}
}
