package layers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// ErrMeanwhile says that something was forgotten while something else was made of it. What was made is not stored.
var ErrMeanwhile = errors.New("something that it was made of was forgotten meanwhile")

// unforgotten makes sure, in the transaction that stores something, that what it was made of is there still: slow work reads without a
// lock, and who forgets looks only at what is stored.
func unforgotten(ctx context.Context, tx *refs.Tx, names ...objects.Hash) error {
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

// unforgottenParts is unforgotten of the parts of a composition, of which some may be of other projects.
func (m *Memory) unforgottenParts(ctx context.Context, tx *refs.Tx, c *Composition) error {
	for i, p := range c.Parts {
		if i >= len(c.Derivation.Inputs) {
			break
		}
		look := func(tx *refs.Tx) error { return unforgotten(ctx, tx, c.Derivation.Inputs[i]) }
		var err error
		if p.Project == tx.Project() {
			err = look(tx)
		} else {
			err = m.repo.View(ctx, p.Project, look)
		}
		if err != nil {
			return fmt.Errorf("session %s: %w", ShortID(p.Session), err)
		}
	}
	return nil
}

// nothingForgotten makes sure, in the transaction that stores a capture, that nobody has forgotten anything since the lanes had the given
// tips: a stream may have become another one that is as long, and the capture may hold what was forgotten. The error is
// [refs.ErrConflict] then.
func nothingForgotten(ctx context.Context, tx *refs.Tx, since []refs.Tip) error {
	if follows, err := tx.Follows(since); err != nil || !follows {
		return cmp.Or(err, refs.ErrConflict)
	}
	records, err := tx.Records(ctx, since)
	if slices.ContainsFunc(records, func(r refs.Record) bool { return r.Kind == kindPurge }) {
		return refs.ErrConflict
	}
	return err
}

// tips returns where the lanes of a project are, to ask [nothingForgotten] later.
func (m *Memory) tips(ctx context.Context, p refs.Project) (tips []refs.Tip, err error) {
	err = m.repo.View(ctx, p, func(tx *refs.Tx) error { tips = tx.Tips(); return nil })
	return tips, err
}

// unforgottenWords makes sure, in the transaction that stores what a model was asked, that nothing was forgotten since the lanes had the
// tips that the question was made at: it holds words of sessions.
func unforgottenWords(ctx context.Context, tx *refs.Tx, asked []refs.Tip) error {
	err := nothingForgotten(ctx, tx, asked)
	if errors.Is(err, refs.ErrConflict) {
		return ErrMeanwhile
	}
	return err
}

// sameSeals makes sure, in the transaction that stores captures, that no value was forgotten since their guard was made, wherever it
// was. The error is [refs.ErrConflict] otherwise.
func (m *Memory) sameSeals(g *guard) error {
	now, err := m.readSeals()
	if err == nil && now.count() != g.count() {
		err = refs.ErrConflict
	}
	return err
}
