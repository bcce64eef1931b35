package derive

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tier"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// TierBatch is how many versions are committed at once when a project ages: a commit costs more than a version,
// and a kill must not cost much of the work.
const TierBatch = 32

// A tierMaker makes versions and commits them in batches.
type tierMaker struct {
	a     *aging
	out   *Tiered
	stage *refs.Stage
	made  []Compressed // not committed yet
	at    []int        // their places in out.Compressed
}

// compressAll makes the versions that sessions lack because of their age. What is made is committed whatever
// ends the work.
func (a *aging) compressAll(ctx context.Context, todo []tier.Compression, out *Tiered) error {
	t := &tierMaker{a: a, out: out}
	defer func() {
		if t.stage != nil {
			t.stage.Close()
		}
	}()
	for i, c := range todo {
		if a.o.Progress != nil {
			a.o.Progress(i, len(todo))
		}
		err := t.add(ctx, c)
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), t.commit(context.WithoutCancel(ctx)))
		}
		if err != nil {
			return err
		}
	}
	return t.commit(ctx)
}

// add makes one version, and commits the batch if it is full. An error is one of the store.
func (t *tierMaker) add(ctx context.Context, c tier.Compression) error {
	v, err := t.compress(ctx, c)
	switch {
	case errors.Is(err, compress.ErrEmpty) || errors.Is(err, compress.ErrSettings) || ctx.Err() != nil:
		return nil // nothing would be left of it: it stays as it is
	case err != nil:
		t.out.Failed = append(t.out.Failed, fmt.Errorf("compress %s: %w", records.ShortID(c.Session), err))
		return nil
	}
	t.out.Compressed = append(t.out.Compressed, v)
	if len(t.made) < TierBatch {
		return nil
	}
	return t.commit(ctx)
}

func (t *tierMaker) compress(ctx context.Context, c tier.Compression) (TierVersion, error) {
	a := t.a
	s := a.st.Session(c.Session)
	v := TierVersion{Session: s, Preset: c.Preset, Why: c.Why}
	if a.o.only {
		return v, nil
	}
	rev := state.Rev{Kind: state.IsSession, Project: a.p, Session: s}
	settings := compress.Settings{Preset: c.Preset, Decay: a.o.Decay}
	for {
		made, err := a.m.CompressBy(ctx, Making{State: a.st, DryRun: a.o.DryRun, Save: t.keep}, rev,
			trust.Basis{Point: s.Now(), Input: s.Now().Original, Purpose: records.ForTier}, settings)
		var pins *compress.PinError
		if errors.As(err, &pins) && pins.Need > settings.Tokens {
			settings.Tokens = pins.Need // as small as its markers let it be
			continue
		}
		if err == nil {
			v.Label, v.Tokens = made.Version.Label, made.Version.TokensOut
		}
		return v, err
	}
}

// keep stages what was made of a session until the batch is committed.
func (t *tierMaker) keep(ctx context.Context, c Compressed, bodies [][]byte) (Compressed, error) {
	if t.stage == nil {
		s, err := t.a.m.Refs.Stage(ctx)
		if err != nil {
			return c, err
		}
		t.stage = s
	}
	for _, b := range bodies {
		if _, err := t.stage.Put(b); err != nil {
			return c, err
		}
	}
	t.made, t.at = append(t.made, c), append(t.at, len(t.out.Compressed))
	return c, nil
}

// commit commits what was made, but for what another process made meanwhile.
func (t *tierMaker) commit(ctx context.Context) error {
	if t.stage == nil {
		return nil
	}
	stage, made, at := t.stage, t.made, t.at
	t.stage, t.made, t.at = nil, nil, nil
	defer stage.Close()
	m := t.a.m
	return m.Refs.Update(ctx, t.a.p.ID, "tier  "+records.Numbered(len(made), "version", "versions"),
		func(tx *refs.Tx) error {
			st, err := m.Fold(ctx, tx, t.a.p.ID)
			if err != nil {
				return err
			}
			adopted := false
			for i, c := range made {
				if v := st.Made(c.Version.Derivation.Key()); v != nil {
					t.out.Compressed[at[i]].Label = v.Label
					continue
				}
				if !adopted {
					if err := tx.Adopt(stage); err != nil {
						return err
					}
					tx.Trailer("Op", "tier")
					adopted = true
				}
				if err := originals.Unforgotten(ctx, tx, c.Version.Derivation.Inputs...); err != nil {
					return fmt.Errorf("session %s: %w", records.ShortID(c.Session.ID), err)
				}
				c.Version.Label = st.NextLabel(c.Session.ID, m.Refs.Device().ID)
				rec, err := tx.Add(records.KindVersion, c.Version)
				if err != nil {
					return err
				}
				c.Version.ID, c.Version.Device, c.Version.Time = rec.ID, rec.Device, rec.Time
				st.Versions = append(slices.Clip(st.Versions), c.Version) // its label is taken
				t.out.Compressed[at[i]].Label = c.Version.Label
			}
			return nil
		})
}
