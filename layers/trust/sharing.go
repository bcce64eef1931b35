package trust

import (
	"context"
	"slices"

	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// ForeignParts returns the first composition of this device with text that the user did not allow in p, or nil.
// Removed compositions and earlier states count: their bytes are in the lane.
func ForeignParts(ctx context.Context, db *state.DB, p state.Project) (*projects.ForeignError, error) {
	st, err := Outline(ctx, db, p.ID)
	if err != nil {
		return nil, err
	}
	shares, err := projects.Shares(ctx, db)
	if err != nil {
		return nil, err
	}
	selves, err := db.Refs.OwnDevices()
	if err != nil {
		return nil, err
	}
	for _, c := range st.Compositions {
		for _, part := range c.Parts {
			if part.Project != p.ID && slices.Contains(selves, c.Device) && !shares[[2]refs.Project{part.Project, p.ID}] {
				return &projects.ForeignError{Composition: c.Name, Removed: st.Composition(c.Name) == nil,
					From: ProjectName(ctx, db, part.Project), With: p.Name}, nil
			}
		}
	}
	return nil, nil
}

// ProjectName returns the name of a project for people, or its id.
func ProjectName(ctx context.Context, db *state.DB, p refs.Project) string {
	if st, err := Outline(ctx, db, p); err == nil && st.AsProject().Name != "" {
		return st.AsProject().Name
	}
	return string(p)[:8]
}

// MayCompose refuses to put text of another project into one that was pushed, unless the user allowed it: its lane
// could not be pushed any more. For a project that was not pushed yet, it returns the error that a push would have.
func MayCompose(ctx context.Context, db *state.DB, into state.Project, parts []refs.Project) (*projects.ForeignError, error) {
	shares, err := projects.Shares(ctx, db)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(parts, func(p refs.Project) bool {
		return p != into.ID && !shares[[2]refs.Project{p, into.ID}]
	})
	if i < 0 {
		return nil, nil
	}
	foreign := &projects.ForeignError{From: ProjectName(ctx, db, parts[i]), With: into.Name}
	remotes, err := db.Refs.Remotes()
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(remotes, func(r refs.Remote) bool { _, ok := r.Projects[into.ID]; return ok }) {
		return nil, foreign
	}
	return foreign, nil
}
