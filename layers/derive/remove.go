package derive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	trusted "github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A UsedError means that something cannot be removed because compositions use it.
type UsedError struct {
	Rev  state.Rev
	What string
	By   []string
}

func (e *UsedError) Error() string {
	return fmt.Sprintf("%s is used by %d composition%s (%s)", e.What, len(e.By), Plural(len(e.By)),
		strings.Join(e.By, ", "))
}

// Remove is [Ops.RemoveAll] for one thing.
func (m Ops) Remove(ctx context.Context, rev state.Rev, force, dryRun bool) error {
	return m.RemoveAll(ctx, []state.Rev{rev}, force, dryRun)
}

// RemoveAll hides what revs name, in one operation for each project; the bytes stay, and adding a thing again restores
// it. What is hidden already is left out. The error is a [*UsedError] if a composition that stays uses one of them, unless
// force is set; nothing is hidden then.
func (m Ops) RemoveAll(ctx context.Context, revs []state.Rev, force, dryRun bool) error {
	var projects []refs.Project
	targets, names := map[refs.Project][]string{}, map[refs.Project][]string{}
	for _, rev := range revs {
		target, what, err := rev.Target()
		if err != nil {
			return err
		}
		p := rev.Project.ID
		if rev.Hidden() || slices.Contains(targets[p], target) {
			continue
		}
		st, err := trusted.On(m.DB).Outline(ctx, p)
		if err != nil {
			return err
		}
		stay := slices.DeleteFunc(st.Users(rev), func(name string) bool { return namesComposition(revs, p, name) })
		if len(stay) > 0 && !force {
			return &UsedError{rev, what, stay}
		}
		if targets[p] == nil {
			projects = append(projects, p)
		}
		targets[p], names[p] = append(targets[p], target), append(names[p], what)
	}
	if dryRun {
		return nil
	}
	for _, p := range projects {
		if err := m.hideAll(ctx, p, targets[p], names[p]); err != nil {
			return err
		}
	}
	return nil
}

// namesComposition reports whether one of revs is a composition of the project with the name.
func namesComposition(revs []state.Rev, p refs.Project, name string) bool {
	return slices.ContainsFunc(revs, func(r state.Rev) bool {
		return r.Kind == state.IsComposition && r.Project.ID == p && r.Composition.Name == name
	})
}

// hideAll hides targets of a project in one operation.
func (m Ops) hideAll(ctx context.Context, p refs.Project, targets, names []string) error {
	const most = 3 // names in the subject
	if n := len(names); n > most {
		names = append(names[:most:most], fmt.Sprintf("%d more", n-most))
	}
	return m.Refs.WithReserve(func() error {
		return m.Refs.Update(ctx, p, "rm "+strings.Join(names, ", "), func(tx *refs.Tx) error {
			tx.Trailer("Op", "rm")
			for _, target := range targets {
				if _, err := tx.Add(records.KindSet, records.SetBody{Target: target, Field: "deleted", Value: true}); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// CacheL1 computes the L1 and token counts of sessions on all cores, so that later commands find them in the cache. It
// calls progress after each session.
func (m Ops) CacheL1(ctx context.Context, added []capture.Added, progress func(bytes int64)) error {
	var projects []refs.Project
	of := map[refs.Project][]int{}
	for i, a := range added {
		if of[a.Project.ID] == nil {
			projects = append(projects, a.Project.ID)
		}
		of[a.Project.ID] = append(of[a.Project.ID], i)
	}
	errs := make([]error, len(added))
	for len(projects) > 0 && ctx.Err() == nil {
		states := map[refs.Project]*state.State{}
		var todo []int
		for len(projects) > 0 && len(todo) < maxLoaded {
			p := projects[0]
			st, err := trusted.On(m.DB).State(ctx, p)
			if err != nil {
				return errors.Join(append(errs, err)...)
			}
			st.Index() // built here because the workers read it concurrently
			states[p], projects, todo = st, projects[1:], append(todo, of[p]...)
		}
		state.Parallel(len(todo), m.Opts.Workers, func(k int) {
			i := todo[k]
			if errs[i] = ctx.Err(); errs[i] == nil {
				errs[i] = m.cacheL1(ctx, states[added[i].Project.ID], added[i])
			}
			if progress != nil {
				progress(added[i].Now.Size)
			}
		})
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// maxLoaded limits the sessions whose project states are loaded at the same time: the states of all projects of a large
// import do not fit into memory.
const maxLoaded = 4096

func (m Ops) cacheL1(ctx context.Context, st *state.State, a capture.Added) error {
	s := st.Session(a.Session)
	if s == nil {
		return nil // forgotten
	}
	l1, err := originals.On(m.DB).L1(ctx, a.Project.ID, s.Now().Original, refine.Full)
	if err != nil {
		return err
	}
	l1.Close() // opening it filled the cache
	_, err = markers.On(m.DB).Counts(ctx, a.Project.ID, s, s.Now())
	return err
}
