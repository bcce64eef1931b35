package derive

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A Retention says which versions are to stay. The zero value lets none stay; a version goes only if every rule
// lets it.
type Retention struct {
	Keep   int       // the newest of each session, so many of them
	Before time.Time // not zero: what was made or used since stays
	Force  bool      // versions that compositions use go, too
}

// A Pruning is a version that pruning takes out of the lists, or would take if nothing used it.
type Pruning struct {
	Session *state.Session
	Version *records.Version
	UsedBy  []string // compositions
	Asked   bool     // a person asked for it, and its session was not named
}

// Prune takes versions that nobody uses out of the lists: of one session, or of all if it is nil. Their bytes stay, and
// history.Undo brings them back. It returns what it took and what it spared: versions that compositions use,
// unless [Retention.Force] is set, and versions that a person asked for, unless their session is named.
func (m Ops) Prune(ctx context.Context, p state.Project, only *state.Session, r Retention, dryRun bool) (taken,
	spared []Pruning, err error) {
	st, err := trust.On(m.DB).Outline(ctx, p.ID)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range st.Sessions {
		if only != nil && s.ID != only.ID {
			continue
		}
		for _, v := range r.beyond(st.CountedOf(s.ID)) {
			x := Pruning{s, v, st.UsedBy(v), only == nil && v.Asked()}
			if x.Asked || len(x.UsedBy) > 0 && !r.Force {
				spared = append(spared, x)
			} else {
				taken = append(taken, x)
			}
		}
	}
	if dryRun || len(taken) == 0 {
		return taken, spared, nil
	}
	message := fmt.Sprintf("prune %d version%s", len(taken), Plural(len(taken)))
	if len(taken) == 1 {
		message = "prune " + records.ShortID(taken[0].Session.ID) + ":" + taken[0].Version.Label
	}
	return taken, spared, m.Refs.WithReserve(func() error {
		return m.Refs.Update(ctx, p.ID, message, func(tx *refs.Tx) error {
			tx.Trailer("Op", "prune")
			return hide(tx, taken)
		})
	})
}

func Plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// hide takes versions out of the lists.
func hide(tx *refs.Tx, versions []Pruning) error {
	for _, x := range versions {
		if _, err := tx.Add(records.KindSet, records.SetBody{Target: "version/" + x.Version.ID.String(), Field: "deleted",
			Value: true}); err != nil {
			return err
		}
	}
	return nil
}

// beyond returns the versions of a session, in the order they were made, that need not stay.
func (r Retention) beyond(versions []*records.Version) []*records.Version {
	out := slices.Clone(versions[:max(0, len(versions)-r.Keep)])
	return slices.DeleteFunc(out, func(v *records.Version) bool {
		return !r.Before.IsZero() && (!v.Time.Before(r.Before) || v.Used.Last.After(r.Before))
	})
}
