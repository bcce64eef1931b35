package trust

import (
	"context"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A Basis is the input of a version: a session up to a growth point, its messages since another version was made, or
// the text of another version.
type Basis struct {
	Point   *records.Point   // whose messages the version refers to
	Input   objects.Hash     // of the derivation
	After   int              // messages up to this one are excluded
	Version *records.Version // that it continues or compresses
	Again   bool             // compress the text of Version
	Without [][2]int         // messages whose tool calls are excluded

	Purpose string                        // see [records.Version.For]
	Accept  func([]version.Segment) error // may reject the text before it is stored; may be nil
}

// Note stores the basis in a version.
func (b Basis) Note(v *records.Version, device string) {
	v.For = b.Purpose
	if b.Version == nil {
		v.After = b.After
		return
	}
	label := b.Version.Label
	if b.Version.Device != device {
		label += "~" + b.Version.Device[:min(8, len(b.Version.Device))]
	}
	v.Base = b.Version.ID
	if b.Again {
		v.Source, v.Original = label, b.Point.Original
		return
	}
	v.Since, v.Settings.Mode = label, "delta"
}

// State returns the state of the project p.
func State(ctx context.Context, db *state.DB, p refs.Project) (st *state.State, err error) {
	err = db.Refs.ViewRetry(ctx, p, func(tx *refs.Tx) error {
		st, err = db.Fold(ctx, tx, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return withRevoked(ctx, db, st)
}

// Outline is State for callers that only read: it is shared with others, and must not be changed.
func Outline(ctx context.Context, db *state.DB, p refs.Project) (*state.State, error) {
	st, err := Bare(ctx, db, p)
	if err != nil {
		return nil, err
	}
	return withRevoked(ctx, db, st)
}

// LogOf returns the operations that made, changed or used rev, newest first. For a session they include those of its
// versions and of compositions with a part of it. For a commit it is the log from there on.
func LogOf(ctx context.Context, db *state.DB, rev state.Rev) ([]refs.Entry, error) {
	entries, err := history.Log(ctx, db, rev.Project.ID, 0)
	if err != nil {
		return nil, err
	}
	if rev.Kind == state.IsCommit {
		i := slices.IndexFunc(entries, func(e refs.Entry) bool { return e.Commit == rev.Commit })
		return entries[max(i, 0):], nil
	}
	st, err := Outline(ctx, db, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	return history.Touching(entries, st.StampsOf(rev)), nil
}

// Projects returns all projects of the memory, sorted by name.
func Projects(ctx context.Context, db *state.DB) ([]state.Project, error) {
	ids, err := db.Refs.Projects()
	if err != nil {
		return nil, err
	}
	var out []state.Project
	for _, id := range ids {
		st, err := Bare(ctx, db, id)
		if err != nil {
			return nil, err
		}
		out = append(out, st.AsProject())
	}
	slices.SortFunc(out, func(a, b state.Project) int {
		return strings.Compare(a.Name+"\x00"+string(a.ID), b.Name+"\x00"+string(b.ID))
	})
	return out, nil
}

// Left reports whether a project had sessions and shows nothing any more: they were moved, hidden or forgotten. Lists omit it.
func Left(ctx context.Context, db *state.DB, p refs.Project) (bool, error) {
	st, err := Outline(ctx, db, p)
	return err == nil && len(st.Sessions)+len(st.Purges) > 0 && len(st.Named()) == 0 &&
		!slices.ContainsFunc(st.Sessions, (*state.Session).Shown), err
}

// Idle reports whether a project that was never pushed to a remote has nothing to tell there: it shows nothing, and has no
// deletion that other devices must apply.
func Idle(ctx context.Context, db *state.DB, p refs.Project) (bool, error) {
	st, err := Outline(ctx, db, p)
	if err != nil || len(st.Purges) > 0 {
		return false, err
	}
	return Left(ctx, db, p)
}
