package projects

import (
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// ErrForeign reports text of one project that would be pushed with another one.
var ErrForeign = errors.New("text of another project")

// Share sets whether compositions of the project with may contain text of the project from and be pushed.
func Share(ctx context.Context, db *state.DB, from, with state.Project, allowed bool) error {
	if from.ID == with.ID {
		return fmt.Errorf("%s and %s are one project", from.Name, with.Name)
	}
	shares, err := Shares(ctx, db)
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
	return db.Refs.Update(ctx, refs.Home, message, func(tx *refs.Tx) error {
		tx.Trailer("Op", "share")
		_, err := tx.Add(records.KindShare, records.ShareBody{From: from.ID, With: with.ID, Allowed: allowed})
		return err
	})
}

// Shares returns which pairs of projects (from, with) are allowed.
func Shares(ctx context.Context, db *state.DB) (map[[2]refs.Project]bool, error) {
	out := map[[2]refs.Project]bool{}
	return out, state.Home(ctx, db, records.KindShare, func(b records.ShareBody) {
		out[[2]refs.Project{b.From, b.With}] = b.Allowed
	})
}

// A ForeignError names the projects whose text would be pushed with another one.
type ForeignError struct {
	Composition string // with the text; "" if it is not made yet
	Removed     bool   // the composition was removed
	From, With  string // names of projects
}

func (e *ForeignError) Error() string {
	if e.Composition != "" {
		return fmt.Sprintf("its composition %s contains text of project %s", e.Composition, e.From)
	}
	return fmt.Sprintf("project %s is pushed to a remote, and text of project %s would be pushed with it", e.With, e.From)
}

// Unwrap returns [ErrForeign].
func (e *ForeignError) Unwrap() error { return ErrForeign }
