package trust

import (
	"context"
	"slices"

	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// ForeignParts says whose text would travel with p although nobody allowed it, nil if nobody's: that of
// compositions, also of those that were removed or composed anew, for their bytes are still there.
func (m Ops) ForeignParts(ctx context.Context, p state.Project) (*projects.ForeignError, error) {
	st, err := m.Outline(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	shares, err := projects.On(m.DB).Shares(ctx)
	if err != nil {
		return nil, err
	}
	selves, err := m.Refs.OwnDevices()
	if err != nil {
		return nil, err
	}
	for _, c := range st.Compositions {
		for _, part := range c.Parts {
			if part.Project != p.ID && slices.Contains(selves, c.Device) && !shares[[2]refs.Project{part.Project, p.ID}] {
				return &projects.ForeignError{Composition: c.Name, From: m.ProjectName(ctx, part.Project), With: p.Name}, nil
			}
		}
	}
	return nil, nil
}

// ProjectName returns the name of a project for people, or its id.
func (m Ops) ProjectName(ctx context.Context, p refs.Project) string {
	if st, err := m.Outline(ctx, p); err == nil && st.AsProject().Name != "" {
		return st.AsProject().Name
	}
	return string(p)[:8]
}

// MayCompose refuses to put text of another project into one that travels, unless the user allowed it: such a
// lane could not be pushed any more.
func (m Ops) MayCompose(ctx context.Context, into state.Project, parts []refs.Project) error {
	foreign := slices.DeleteFunc(slices.Clone(parts), func(p refs.Project) bool { return p == into.ID })
	if len(foreign) == 0 {
		return nil
	}
	remotes, err := m.Refs.Remotes()
	if err != nil || !slices.ContainsFunc(remotes, func(r refs.Remote) bool { _, ok := r.Projects[into.ID]; return ok }) {
		return err
	}
	shares, err := projects.On(m.DB).Shares(ctx)
	if err != nil {
		return err
	}
	for _, p := range foreign {
		if !shares[[2]refs.Project{p, into.ID}] {
			return &projects.ForeignError{From: m.ProjectName(ctx, p), With: into.Name}
		}
	}
	return nil
}
