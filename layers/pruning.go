package layers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/memvcs/mem/refs"
)

// A Retention says which versions are to stay. The zero value lets none stay; a version goes only if every rule lets it.
type Retention struct {
	Keep   int       // the newest of each session, so many of them
	Before time.Time // not zero: what was made or used since stays
}

// A Pruning is a version that pruning takes out of the lists, or would take if nothing used it.
type Pruning struct {
	Session *Session
	Version *Version
	UsedBy  []string // compositions
	Asked   bool     // a person asked for it, and its session was not named
}

// Prune takes versions that nobody uses out of the lists: of one session, or of all if it is nil. Their bytes stay, and
// [Memory.Undo] brings them back. It returns what it took and what it spared: versions that compositions use, unless force
// is set, and versions that a person asked for, unless their session is named.
func (m *Memory) Prune(ctx context.Context, p Project, only *Session, r Retention, force, dryRun bool) (taken, spared []Pruning, err error) {
	st, err := m.Outline(ctx, p.ID)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range st.Sessions {
		if only != nil && s.ID != only.ID {
			continue
		}
		for _, v := range r.beyond(st.countedOf(s.ID)) {
			x := Pruning{s, v, st.UsedBy(v), only == nil && v.Asked()}
			if x.Asked || len(x.UsedBy) > 0 && !force {
				spared = append(spared, x)
			} else {
				taken = append(taken, x)
			}
		}
	}
	if dryRun || len(taken) == 0 {
		return taken, spared, nil
	}
	message := fmt.Sprintf("prune %d version%s", len(taken), plural(len(taken)))
	if len(taken) == 1 {
		message = "prune " + ShortID(taken[0].Session.ID) + ":" + taken[0].Version.Label
	}
	return taken, spared, m.repo.Freeing(func() error {
		return m.repo.Update(ctx, p.ID, message, func(tx *refs.Tx) error {
			tx.Trailer("Op", "prune")
			return hide(tx, taken)
		})
	})
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// hide takes versions out of the lists.
func hide(tx *refs.Tx, versions []Pruning) error {
	for _, x := range versions {
		if _, err := tx.Add(kindSet, setBody{"version/" + x.Version.ID.String(), "deleted", true}); err != nil {
			return err
		}
	}
	return nil
}

// beyond returns the versions of a session, in the order they were made, that need not stay.
func (r Retention) beyond(versions []*Version) []*Version {
	out := slices.Clone(versions[:max(0, len(versions)-r.Keep)])
	return slices.DeleteFunc(out, func(v *Version) bool {
		return !r.Before.IsZero() && (!v.Time.Before(r.Before) || v.Used.Last.After(r.Before))
	})
}
