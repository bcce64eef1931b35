package derive

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// CacheL1 computes the missing L1 and token counts of sessions on all cores, so that later commands find them in the cache.
// It calls progress after each session, from several goroutines.
func CacheL1(ctx context.Context, db *state.DB, added []capture.Added, progress func(bytes int64)) error {
	var projects []refs.Project
	of := map[refs.Project][]int{}
	for i, a := range added {
		if of[a.Project.ID] == nil {
			projects = append(projects, a.Project.ID)
		}
		of[a.Project.ID] = append(of[a.Project.ID], i)
	}
	errs, have := make([]error, len(added)), cachedL1(db)
	for len(projects) > 0 && ctx.Err() == nil {
		states, counted := map[refs.Project]*state.State{}, map[refs.Project]map[objects.Hash]int{}
		var todo []int
		for len(projects) > 0 && len(todo) < maxLoaded {
			p := projects[0]
			st, err := trust.State(ctx, db, p)
			if err != nil {
				return errors.Join(append(errs, err)...)
			}
			st.Index() // built here because the workers read it concurrently
			states[p], counted[p] = st, capture.KnownTokens(db, p)
			projects, todo = projects[1:], append(todo, of[p]...)
		}
		state.Parallel(len(todo), db.Opts.Workers, func(k int) {
			i := todo[k]
			p := added[i].Project.ID
			s := states[p].Session(added[i].Session)
			if ctx.Err() == nil && s != nil { // it is nil if the session was forgotten
				if _, ok := counted[p][s.Now().Original]; !ok || !have[l1Name(s)] {
					errs[i] = cacheL1(ctx, db, p, s)
				}
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

func cacheL1(ctx context.Context, db *state.DB, p refs.Project, s *state.Session) error {
	l1, err := originals.L1(ctx, db, p, s.Now().Original, refine.Full)
	if err != nil {
		return err
	}
	l1.Close() // opening it filled the cache
	_, err = markers.Counts(ctx, db, p, s, s.Now())
	return err
}

// cachedL1 returns the names of the L1 in the cache, none if it cannot be read.
func cachedL1(db *state.DB) map[string]bool {
	entries, _ := os.ReadDir(db.CachePath("l1")) // a missing L1 only costs time
	have := make(map[string]bool, len(entries))
	for _, e := range entries {
		have[e.Name()] = true
	}
	return have
}

func l1Name(s *state.Session) string { return originals.L1Name(s.Now().Original, refine.Full) }

// WithoutL1 returns the sessions without L1 in the cache. If the cache cannot be read, that is all of them.
func WithoutL1(db *state.DB, st *state.State) (out []*state.Session) {
	have := cachedL1(db)
	for _, s := range st.Recent() {
		if !have[l1Name(s)] {
			out = append(out, s)
		}
	}
	return out
}

// SizeWithoutL1 returns the number of bytes that [Refine] would read.
func SizeWithoutL1(ctx context.Context, db *state.DB, p state.Project) (n int64, err error) {
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return 0, err
	}
	for _, s := range WithoutL1(db, st) {
		n += s.Now().Size
	}
	return n, nil
}

// Refine computes the missing L1 of the sessions of a project, calls progress after each, and returns their number.
func Refine(ctx context.Context, db *state.DB, p state.Project, progress func(bytes int64)) (int, error) {
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return 0, err
	}
	var todo []capture.Added
	for _, s := range WithoutL1(db, st) {
		todo = append(todo, capture.Added{Session: s.ID, Project: p, Now: s.Now().Snapshot})
	}
	if err := CacheL1(ctx, db, todo, progress); err != nil {
		return 0, fmt.Errorf("refine: %w", err)
	}
	return len(todo), nil
}
