package app

import (
	"context"
	"slices"

	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// A LinkHint is how to link the working directory to a project with sessions.
type LinkHint struct {
	Why     string // a condition: "if this directory is of project shop"
	Command string
}

// Unlinked returns how to link the working directory, of whose project nothing is known, to one with sessions: to that of
// the same name, or to the only one. It returns false if no other project has sessions, or the user names the project.
func Unlinked(ctx context.Context, run Run) (h LinkHint, ok bool, err error) {
	if run.Opt.Project != "" || run.Opt.AllProjects {
		return h, false, nil
	}
	others, err := run.others(ctx)
	if err != nil || len(others) == 0 {
		return h, false, err
	}
	if named := slices.IndexFunc(others, func(p state.Project) bool { return p.Name == run.Project.Name }); named >= 0 {
		others = others[named : named+1]
	}
	if len(others) > 1 {
		return LinkHint{"if this directory is of another project", "mem project link PROJECT"}, true, nil
	}
	return LinkHint{"if this directory is of project " + others[0].Name,
		LinkCommand(run.Dir, projects.CheckoutOf(run.Dir), others[0])}, true, nil
}

// others returns the other projects with sessions.
func (run Run) others(ctx context.Context) (out []state.Project, err error) {
	all, err := trust.Projects(ctx, run.DB)
	for _, p := range all {
		st, err := trust.Outline(ctx, run.DB, p.ID)
		if err != nil {
			return nil, err
		}
		if len(st.Recent()) > 0 && p.ID != run.Project.ID {
			out = append(out, p)
		}
	}
	return out, err
}
