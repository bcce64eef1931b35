package names

import (
	"context"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/state"
)

// ListedProjects returns the project of the user, or with --all-projects all.
func ListedProjects(ctx context.Context, e *app.Env, m *layers.Memory, sc state.Scope) ([]state.Project, error) {
	if e.Opt.AllProjects {
		return Projects(ctx, m)
	}
	return []state.Project{sc.Project}, nil
}

// ProjectName returns what a row of a list says of its project: nothing if all are of one.
func ProjectName(e *app.Env, p state.Project) string {
	if e.Opt.AllProjects {
		return p.Name
	}
	return ""
}
