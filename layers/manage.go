package layers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/refs"
)

// A UsedError says that something cannot be removed because compositions name it.
type UsedError struct {
	What string
	By   []string
}

func (e *UsedError) Error() string {
	return fmt.Sprintf("%s is used by %d composition%s (%s)", e.What, len(e.By), plural(len(e.By)), strings.Join(e.By, ", "))
}

// ErrNotRemovable says that a revision names nothing that can be taken out of the lists.
var ErrNotRemovable = errors.New("only sessions, versions and compositions can be removed")

// Remove takes what rev names out of the lists; its bytes stay and adding it again brings it back. It
// refuses with a [*UsedError] what a composition uses, unless force is set.
func (m *Memory) Remove(ctx context.Context, rev Rev, force, dryRun bool) error {
	target, what, err := rev.target()
	if err != nil {
		return err
	}
	st, err := m.Outline(ctx, rev.Project.ID)
	if err != nil {
		return err
	}
	if by := st.usedBy(rev); len(by) > 0 && !force {
		return &UsedError{what, by}
	}
	if dryRun {
		return nil
	}
	return m.repo.Freeing(func() error {
		return m.repo.Update(ctx, rev.Project.ID, "rm "+what, func(tx *refs.Tx) error {
			tx.Trailer("Op", "rm")
			_, err := tx.Add(kindSet, setBody{target, "deleted", true})
			return err
		})
	})
}

func (r Rev) target() (target, what string, err error) {
	switch r.Kind {
	case IsSession:
		return "session/" + r.Session.ID, ShortID(r.Session.ID), nil
	case IsVersion:
		return "version/" + r.Version.ID.String(), ShortID(r.Session.ID) + ":" + r.Version.Name(), nil
	case IsComposition:
		return "composition/" + r.Composition.Name, r.Composition.Name, nil
	}
	return "", "", ErrNotRemovable
}

// usedBy returns the names of the compositions that use what rev names. Summaries of weeks and months do not count: they
// hold their own text, and are made again when they need to be.
func (st *State) usedBy(rev Rev) []string {
	var names []string
	guest := rev.Session != nil && rev.Session.Guest != "" || rev.Version != nil && rev.Version.guest
	for _, c := range st.Compositions {
		if !guest && st.stranger(c.Device) {
			continue // such a device can keep nothing in the lists
		}
		if c.Deleted || c.Tier != "" || rev.Kind == IsComposition || slices.Contains(names, c.Name) {
			continue
		}
		if slices.ContainsFunc(c.Parts, func(p CompositionPart) bool {
			return p.Session == rev.Session.ID && (rev.Kind == IsSession || p.Output == rev.Version.Derivation.Output)
		}) {
			names = append(names, c.Name)
		}
	}
	return names
}

// UsedBy returns the names of the compositions that use a version.
func (st *State) UsedBy(v *Version) []string {
	return st.usedBy(Rev{Kind: IsVersion, Session: &Session{ID: v.Session}, Version: v})
}

// Derive makes the L1 and the token counts of sessions, on all cores, so that later commands find them.
// It calls progress after each.
func (m *Memory) Derive(ctx context.Context, added []Added, progress func(bytes int64)) error {
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
		states := map[refs.Project]*State{}
		var todo []int
		for len(projects) > 0 && len(todo) < derivedAtOnce {
			p := projects[0]
			st, err := m.State(ctx, p)
			if err != nil {
				return errors.Join(append(errs, err)...)
			}
			st.index() // which is only read from here on
			states[p], projects, todo = st, projects[1:], append(todo, of[p]...)
		}
		parallel(len(todo), m.opts.Workers, func(k int) {
			i := todo[k]
			if errs[i] = ctx.Err(); errs[i] == nil {
				errs[i] = m.derive(ctx, states[added[i].Project.ID], added[i])
			}
			if progress != nil {
				progress(added[i].Now.Size)
			}
		})
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// derivedAtOnce is from how many sessions on those of further projects wait: the states of all projects of a large import do not
// fit into memory at once.
const derivedAtOnce = 4096

func (m *Memory) derive(ctx context.Context, st *State, a Added) error {
	s := st.session(a.Session)
	if s == nil {
		return nil // it was forgotten, long ago or since it was captured
	}
	l1, err := m.l1(ctx, a.Project.ID, s.Now().Original, refine.Full)
	if err != nil {
		return err
	}
	l1.Close() // opened to be made, nothing else
	_, err = m.counts(ctx, a.Project.ID, s, s.Now())
	return err
}

// copyValues writes the values from to to of a transcript, each on a line.
func copyValues(r io.Reader, from, to int, w io.Writer) error {
	for v, err := range transcript.Stream(r, hugeValue) {
		if err != nil {
			return err
		}
		if v.N > to {
			return nil
		}
		if v.N < from {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s\n", v.Raw); err != nil {
			return err
		}
	}
	return nil
}
