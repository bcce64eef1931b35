package layers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memvcs/mem/refs"
)

// shareBody says that text of one project may stand in compositions of another one that travels: the body of a "share" record. The
// last one of a pair wins.
type shareBody struct {
	From    refs.Project `json:"from"`
	With    refs.Project `json:"with"`
	Allowed bool         `json:"allowed"`
}

// ErrForeign says that text of one project would travel with another one.
var ErrForeign = errors.New("text of another project")

// Share says whether compositions of the project with may hold parts of the project from and still travel.
func (m *Memory) Share(ctx context.Context, from, with Project, allowed bool) error {
	if from.ID == with.ID {
		return fmt.Errorf("%s and %s are one project", from.Name, with.Name)
	}
	shares, err := m.shares(ctx)
	if err != nil {
		return err
	}
	if shares[[2]refs.Project{from.ID, with.ID}] == allowed {
		return nil
	}
	message := fmt.Sprintf("share %s with %s", from.Name, with.Name)
	if !allowed {
		message = fmt.Sprintf("share %s with %s no more", from.Name, with.Name)
	}
	return m.repo.Update(ctx, refs.Home, message, func(tx *refs.Tx) error {
		tx.Trailer("Op", "share")
		_, err := tx.Add(kindShare, shareBody{from.ID, with.ID, allowed})
		return err
	})
}

// shares returns which project's text may travel with which.
func (m *Memory) shares(ctx context.Context) (map[[2]refs.Project]bool, error) {
	out := map[[2]refs.Project]bool{}
	return out, home(ctx, m, kindShare, func(_ stamp, b shareBody) { out[[2]refs.Project{b.From, b.With}] = b.Allowed })
}

// foreignParts says whose text would travel with p although nobody allowed it, nil if nobody's: that of compositions, also of those
// that were removed or composed anew, for their bytes are still there.
func (m *Memory) foreignParts(ctx context.Context, p Project) (*ForeignError, error) {
	st, err := m.Outline(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	shares, err := m.shares(ctx)
	if err != nil {
		return nil, err
	}
	selves, err := m.repo.Selves()
	if err != nil {
		return nil, err
	}
	for _, c := range st.Compositions {
		for _, part := range c.Parts {
			if part.Project != p.ID && slices.Contains(selves, c.Device) && !shares[[2]refs.Project{part.Project, p.ID}] {
				return &ForeignError{Composition: c.Name, From: m.projectName(ctx, part.Project), With: p.Name}, nil
			}
		}
	}
	return nil, nil
}

// projectName returns the name of a project for people, or its id.
func (m *Memory) projectName(ctx context.Context, p refs.Project) string {
	if st, err := m.Outline(ctx, p); err == nil && st.project().Name != "" {
		return st.project().Name
	}
	return string(p)[:8]
}

// mayCompose refuses to put text of another project into one that travels, unless the user allowed it: such a lane could not be
// pushed any more.
func (m *Memory) mayCompose(ctx context.Context, into Project, parts []refs.Project) error {
	foreign := slices.DeleteFunc(slices.Clone(parts), func(p refs.Project) bool { return p == into.ID })
	if len(foreign) == 0 {
		return nil
	}
	remotes, err := m.repo.Remotes()
	if err != nil || !slices.ContainsFunc(remotes, func(r refs.Remote) bool { _, ok := r.Projects[into.ID]; return ok }) {
		return err
	}
	shares, err := m.shares(ctx)
	if err != nil {
		return err
	}
	for _, p := range foreign {
		if !shares[[2]refs.Project{p, into.ID}] {
			return &ForeignError{From: m.projectName(ctx, p), With: into.Name}
		}
	}
	return nil
}

// A ForeignError says whose text would travel with what.
type ForeignError struct {
	Composition string // that holds the text; "" if it is not made yet
	From, With  string // names of projects
}

func (e *ForeignError) Error() string {
	if e.Composition != "" {
		return fmt.Sprintf("its composition %s holds text of project %s", e.Composition, e.From)
	}
	return fmt.Sprintf("project %s travels to a remote, and text of project %s would travel with it", e.With, e.From)
}

// Unwrap returns [ErrForeign].
func (e *ForeignError) Unwrap() error { return ErrForeign }
