package originals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	bodies "github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// ErrMeanwhile says that something was forgotten while something else was made of it. What was made is not stored.
var ErrMeanwhile = errors.New("something that it was made of was forgotten meanwhile")

// Unforgotten makes sure, in the transaction that stores something, that what it was made of is there still:
// slow work reads without a lock, and who forgets looks only at what is stored.
func Unforgotten(ctx context.Context, tx *refs.Tx, names ...objects.Hash) error {
	for _, h := range names {
		if h.IsZero() {
			continue
		}
		rc, err := tx.Get(ctx, h)
		if errors.Is(err, objects.ErrNotFound) {
			return fmt.Errorf("%s: %w", h.Short(), ErrMeanwhile)
		}
		if err != nil {
			return err
		}
		rc.Close() // opened to be known there, nothing else
	}
	return nil
}

// UnforgottenParts is unforgotten of the parts of a composition, of which some may be of other projects.
func (m Ops) UnforgottenParts(ctx context.Context, tx *refs.Tx, c *bodies.Composition) error {
	for i, p := range c.Parts {
		if i >= len(c.Derivation.Inputs) {
			break
		}
		look := func(tx *refs.Tx) error { return Unforgotten(ctx, tx, c.Derivation.Inputs[i]) }
		var err error
		if p.Project == tx.Project() {
			err = look(tx)
		} else {
			err = m.Refs.View(ctx, p.Project, look)
		}
		if err != nil {
			return fmt.Errorf("session %s: %w", bodies.ShortID(p.Session), err)
		}
	}
	return nil
}

// NothingForgotten makes sure, in the transaction that stores a capture, that nobody has forgotten anything
// since the lanes had the given tips: a stream may have become another one that is as long, and the capture may
// hold what was forgotten. The error is [refs.ErrConflict] then.
func NothingForgotten(ctx context.Context, tx *refs.Tx, since []refs.Tip) error {
	if follows, err := tx.Follows(since); err != nil || !follows {
		return cmp.Or(err, refs.ErrConflict)
	}
	records, err := tx.Records(ctx, since)
	if slices.ContainsFunc(records, func(r refs.Record) bool { return r.Kind == bodies.KindPurge }) {
		return refs.ErrConflict
	}
	return err
}

// Tips returns where the lanes of a project are, to ask [nothingForgotten] later.
func (m Ops) Tips(ctx context.Context, p refs.Project) (tips []refs.Tip, err error) {
	err = m.Refs.View(ctx, p, func(tx *refs.Tx) error { tips = tx.Tips(); return nil })
	return tips, err
}

// UnforgottenWords makes sure, in the transaction that stores what a model was asked, that nothing was
// forgotten since the lanes had the tips that the question was made at: it holds words of sessions.
func UnforgottenWords(ctx context.Context, tx *refs.Tx, asked []refs.Tip) error {
	err := NothingForgotten(ctx, tx, asked)
	if errors.Is(err, refs.ErrConflict) {
		return ErrMeanwhile
	}
	return err
}

// SameSeals makes sure, in the transaction that stores captures, that no value was forgotten since their guard
// was made, wherever it was. The error is [refs.ErrConflict] otherwise.
func (m Ops) SameSeals(g *Guard) error {
	now, err := m.ReadSeals()
	if err == nil && now.Count() != g.count() {
		err = refs.ErrConflict
	}
	return err
}
