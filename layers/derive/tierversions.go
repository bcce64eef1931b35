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

// TierBatch is the number of versions in one commit when a project ages: a commit costs more than a version, and a kill
// must not lose much work.
const TierBatch = 32

// A batchWriter creates versions and commits them in batches.
type batchWriter struct {
	a     *tierRun
	out   *TierResult
	stage *refs.Stage
	made  []CompressResult // staged, not committed
	at    []int            // indexes in out.Compressed
}

// compressAll creates the versions that are due.
func (a *tierRun) compressAll(ctx context.Context, todo []tier.Compression, out *TierResult) error {
	t := &batchWriter{a: a, out: out}
	defer func() {
		if t.stage != nil {
			t.stage.Close()
		}
	}()
	for i, c := range todo {
		if ctx.Err() != nil {
			break
		}
		if a.o.Progress != nil {
			a.o.Progress(i, len(todo))
		}
		if err := t.add(ctx, c); err != nil {
			return err
		}
	}
	return errors.Join(ctx.Err(), t.commit(ctx))
}

// add creates one version, and commits a full batch. The error is an error of the store; others are added to the
// result.
func (t *batchWriter) add(ctx context.Context, c tier.Compression) error {
	v, err := t.compress(ctx, c)
	switch {
	case err == nil:
	case errors.Is(err, compress.ErrEmpty) || ctx.Err() != nil:
		return nil // nothing to compress: it stays as it is
	default:
		t.out.Failed = append(t.out.Failed, fmt.Errorf("compress %s: %w", records.ShortID(c.Session), err))
		return nil
	}
	t.out.Compressed = append(t.out.Compressed, v)
	if len(t.made) < TierBatch {
		return nil
	}
	return t.commit(ctx)
}

func (t *batchWriter) compress(ctx context.Context, c tier.Compression) (TierVersion, error) {
	a := t.a
	s := a.st.Session(c.Session)
	v := TierVersion{Session: s, Preset: c.Preset, Why: c.Why}
	if a.planOnly {
		return v, nil
	}
	rev := state.Rev{Kind: state.IsSession, Project: a.p, Session: s}
	settings := compress.Settings{Preset: c.Preset, Decay: a.o.Decay}
	for {
		made, err := CompressBy(ctx, a.m, CompressRun{State: a.st, DryRun: a.o.DryRun, Save: t.stageVersion}, rev,
			trust.Basis{Point: s.Now(), Input: s.Now().Original, Purpose: records.ForTier}, settings)
		var pins *compress.PinError
		if errors.As(err, &pins) && pins.Need > settings.Tokens {
			settings.Tokens = pins.Need // the size of its markers
			continue
		}
		if err == nil {
			v.Label, v.Tokens = made.Version.Label, made.Version.TokensOut
		}
		return v, err
	}
}

// stageVersion stages a version for the next batch.
func (t *batchWriter) stageVersion(ctx context.Context, c CompressResult, bodies [][]byte) (CompressResult, error) {
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

// commit commits the staged versions, without those that another process has saved meanwhile. It does so even if the
// context has ended, so that finished work is not lost.
func (t *batchWriter) commit(ctx context.Context) error {
	if t.stage == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
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
				if err := originals.CheckInputs(ctx, tx, c.Version.Derivation.Inputs...); err != nil {
					return fmt.Errorf("session %s: %w", records.ShortID(c.Session.ID), err)
				}
				c.Version.Label = st.NextLabel(c.Session.ID, m.Refs.Device().ID)
				rec, err := tx.Add(records.KindVersion, c.Version)
				if err != nil {
					return err
				}
				c.Version.ID, c.Version.Device, c.Version.Time = rec.ID, rec.Device, rec.Time
				st.Versions = append(slices.Clip(st.Versions), c.Version) // reserves the label
				t.out.Compressed[at[i]].Label = c.Version.Label
			}
			return nil
		})
}
