package knowledge

import (
	"context"

	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// Pending says what the layers above L1 lack for a session.
type Pending struct {
	Undistilled
	Facts      int  // valid facts of the session
	Unassigned int  // its exchanges without a concept
	Reflect    bool // the project has facts that no reflection has seen
}

// FindPending returns what is pending for a session as it was captured last.
func FindPending(ctx context.Context, db *state.DB, p refs.Project, id string) (out Pending, err error) {
	if out.Undistilled, err = FindUndistilled(ctx, db, p, id); err != nil {
		return out, err
	}
	known, err := revision.Facts(ctx, db, p)
	if err != nil || len(known.Exchanges) == 0 {
		return out, err
	}
	for f := range known.All() {
		if f.Session == id && f.Live() {
			out.Facts++
		}
	}
	jobs, err := revision.Concepts(ctx, db, p)
	if err != nil {
		return out, err
	}
	for _, x := range jobs.Unassigned(known) {
		if x.Session == id {
			out.Unassigned++
		}
	}
	out.Reflect, err = ReflectionDue(ctx, db, p)
	return out, err
}

// SessionOf returns the session with the full id, nil if the project has none.
func SessionOf(ctx context.Context, db *state.DB, p refs.Project, id string) (*state.Session, error) {
	st, err := trust.Outline(ctx, db, p)
	if err != nil {
		return nil, err
	}
	return st.Session(id), nil
}
