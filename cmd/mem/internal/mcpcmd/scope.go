package mcpcmd

import (
	"context"
	"fmt"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/searchcmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A scope is the set of projects that a tool searches.
type scope struct {
	own      state.Project // of the directory
	projects []refs.Project
	only     search.Only // of the related projects
	all      bool
}

// scopeOf parses the argument projects. Unlike "mem search", a tool never searches other projects by default, because
// no user would notice.
func scopeOf(ctx context.Context, e *app.Env, m *layers.Memory, projects string) (sc scope, err error) {
	switch projects {
	case "", "related", "all":
	default:
		return sc, app.Usagef("projects cannot be %q: want all, related, or nothing", projects)
	}
	if sc.own, err = app.TheProject(ctx, e, m); err != nil {
		return sc, err
	}
	sc.projects = []refs.Project{sc.own.ID}
	switch projects {
	case "all":
		sc.all, e.Opt.AllProjects = true, true
		sc.projects, err = searchcmd.Scope(ctx, e, m)
	case "related":
		sc.projects, sc.only, _, err = searchcmd.WithRelated(ctx, m, sc.projects)
	}
	return sc, err
}

// note returns the reason for an empty answer: the project has no sessions, or else nothing.
func (sc scope) note(ctx context.Context, m *layers.Memory, nothing string) (string, error) {
	projects, err := trust.Projects(ctx, m.DB)
	if err != nil {
		return "", err
	}
	own, others := 0, 0
	for _, p := range projects {
		st, err := trust.Outline(ctx, m.DB, p.ID)
		switch {
		case err != nil:
			return "", err
		case p.ID == sc.own.ID:
			own = len(st.Recent())
		case len(st.Recent()) > 0:
			others++
		}
	}
	switch {
	case own == 0 && others == 0:
		return "memory has no sessions yet: they are captured by the hooks of mem, or added by mem import", nil
	case sc.all || own > 0:
		return nothing, nil
	}
	return fmt.Sprintf("the project %s has no sessions in memory yet; search with projects: \"all\" looks in the others",
		term.SanitizeLine(sc.own.Name)), nil
}
