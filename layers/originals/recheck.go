package originals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// ErrInputDeleted reports that an input was deleted while something was derived from it. The result is not stored.
var ErrInputDeleted = errors.New("an input was deleted meanwhile")

// CheckInputs checks, in the transaction that stores a derived object, that its inputs still exist. Derivations read
// without a lock, and a deletion considers only stored objects. The error wraps [ErrInputDeleted].
func CheckInputs(ctx context.Context, tx *refs.Tx, names ...objects.Hash) error {
	for _, h := range names {
		if h.IsZero() {
			continue
		}
		rc, err := tx.Get(ctx, h)
		if errors.Is(err, objects.ErrNotFound) {
			return fmt.Errorf("%s: %w", h.Short(), ErrInputDeleted)
		}
		if err != nil {
			return err
		}
		rc.Close() // it was only opened to check that it exists
	}
	return nil
}

// CheckParts is [CheckInputs] for the parts of a composition, which may be in other projects.
func CheckParts(ctx context.Context, db *state.DB, tx *refs.Tx, c *records.Composition) error {
	for i, p := range c.Parts {
		if i >= len(c.Derivation.Inputs) {
			break
		}
		look := func(tx *refs.Tx) error { return CheckInputs(ctx, tx, c.Derivation.Inputs[i]) }
		var err error
		if p.Project == tx.Project() {
			err = look(tx)
		} else {
			err = db.Refs.View(ctx, p.Project, look)
		}
		if err != nil {
			return fmt.Errorf("session %s: %w", records.ShortID(p.Session), err)
		}
	}
	return nil
}

// CheckNoPurge checks, in the transaction that stores a capture, that nothing was deleted since the lanes had the
// given tips: a stream may have been rewritten without a change of length, and the capture may contain deleted text.
// The error is [refs.ErrConflict] otherwise.
func CheckNoPurge(ctx context.Context, tx *refs.Tx, since []refs.Tip) error {
	if follows, err := tx.Follows(since); err != nil || !follows {
		return cmp.Or(err, refs.ErrConflict)
	}
	all, err := tx.Records(ctx, since)
	if slices.ContainsFunc(all, func(r refs.Record) bool { return r.Kind == records.KindPurge }) {
		return refs.ErrConflict
	}
	return err
}

// Tips returns the tips of the lanes of a project, for [CheckNoPurge].
func Tips(ctx context.Context, db *state.DB, p refs.Project) (tips []refs.Tip, err error) {
	err = db.Refs.View(ctx, p, func(tx *refs.Tx) error { tips = tx.Tips(); return nil })
	return tips, err
}

// CheckQuestion checks, in the transaction that stores a question to a model, that nothing was deleted since the
// lanes had the tips at which the question was made: it contains text of sessions. The error is [ErrInputDeleted]
// otherwise.
func CheckQuestion(ctx context.Context, tx *refs.Tx, asked []refs.Tip) error {
	err := CheckNoPurge(ctx, tx, asked)
	if errors.Is(err, refs.ErrConflict) {
		return ErrInputDeleted
	}
	return err
}

// SameSeals checks, in the transaction that stores captures, that no value was deleted in any project since their guard
// was made. The error is [refs.ErrConflict] otherwise.
func SameSeals(db *state.DB, g *Guard) error {
	now, err := ReadSeals(db)
	if err == nil && now.Count() != g.count() {
		err = refs.ErrConflict
	}
	return err
}
