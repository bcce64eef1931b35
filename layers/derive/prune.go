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

// A Retention says which versions are kept. The zero value keeps none; a version must match no rule to be removed.
type Retention struct {
	Keep   int       // number of newest versions of each session that are kept
	Before time.Time // versions created or used since are kept; zero: no limit
	Force  bool      // remove versions that compositions use
}

// A PrunedVersion is a version that pruning hides or spares.
type PrunedVersion struct {
	Session   *state.Session
	Version   *records.Version
	UsedBy    []string // compositions
	Requested bool     // spared: a person requested it, and its session was not given
}

// Prune hides unused versions of one session, or of all sessions if only is nil. Their bytes stay, and history.Undo
// restores them. It spares versions that compositions use, unless [Retention.Force] is set, and versions that a person
// requested, unless their session is given.
func Prune(ctx context.Context, db *state.DB, p state.Project, only *state.Session, r Retention, dryRun bool) (taken,
	spared []PrunedVersion, err error) {
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range st.Sessions {
		if only != nil && s.ID != only.ID {
			continue
		}
		for _, v := range r.expired(st.VersionsOf(s.ID)) {
			x := PrunedVersion{s, v, st.UsedBy(v), only == nil && v.Asked()}
			if x.Requested || len(x.UsedBy) > 0 && !r.Force {
				spared = append(spared, x)
			} else {
				taken = append(taken, x)
			}
		}
	}
	if dryRun || len(taken) == 0 {
		return taken, spared, nil
	}
	message := fmt.Sprintf("prune %d versions", len(taken))
	if len(taken) == 1 {
		message = "prune " + records.ShortID(taken[0].Session.ID) + ":" + taken[0].Version.Label
	}
	targets := make([]string, len(taken))
	for i, x := range taken {
		targets[i] = "version/" + x.Version.ID.String()
	}
	return taken, spared, hide(ctx, db, p.ID, message, "prune", targets, true)
}

// hide hides targets of a project in one operation, or shows them again.
func hide(ctx context.Context, db *state.DB, p refs.Project, message, op string, targets []string, hidden bool) error {
	return db.Refs.WithReserve(func() error {
		return db.Refs.Update(ctx, p, message, func(tx *refs.Tx) error {
			tx.Trailer("Op", op)
			for _, target := range targets {
				if _, err := tx.Add(records.KindSet, records.SetBody{Target: target, Field: "deleted", Value: hidden}); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// expired returns the versions of a session that need not be kept. versions are in the order of creation.
func (r Retention) expired(versions []*records.Version) []*records.Version {
	out := slices.Clone(versions[:max(0, len(versions)-r.Keep)])
	return slices.DeleteFunc(out, func(v *records.Version) bool {
		return !r.Before.IsZero() && (!v.Time.Before(r.Before) || v.Used.Last.After(r.Before))
	})
}
