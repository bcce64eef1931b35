package forget

import (
	"context"
	"fmt"

	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/refs"
)

// RebuildBatch is the number of rebuilt versions in one commit: a commit costs more than a version.
const RebuildBatch = 64

// A rebuilder rebuilds versions of one project and commits them in batches.
type rebuilder struct {
	m       *state.DB
	project refs.Project
	st      *state.State // when the batch began
	stage   *refs.Stage
	pending []derive.CompressResult
	names   []string // of the committed texts
}

// rebuildAll rebuilds versions and compositions, and returns the names of the texts. Consecutive versions of one
// project share a commit; a composition is rebuilt after the versions before it were committed.
func rebuildAll(ctx context.Context, db *state.DB, all []rebuild) (made []string, err error) {
	b := &rebuilder{m: db}
	defer b.close()
	for _, r := range all {
		if r.Name != "" || r.Project.ID != b.project {
			if err := b.commit(ctx); err != nil {
				return b.names, err
			}
			b.project = r.Project.ID
		}
		if r.Name == "" {
			err = b.version(ctx, r)
		} else {
			err = b.composition(ctx, r)
		}
		if err != nil {
			return b.names, fmt.Errorf("rebuild %s%s: %w", r.Name, r.Label, err)
		}
	}
	return b.names, b.commit(ctx)
}

func (b *rebuilder) composition(ctx context.Context, r rebuild) error {
	st, err := trust.State(ctx, b.m, r.Project.ID)
	if err != nil {
		return err
	}
	h, err := composeRebuilt(ctx, b.m, st, r)
	b.names = append(b.names, h.String())
	return err
}

// version rebuilds a version, unless too little input remains.
func (b *rebuilder) version(ctx context.Context, r rebuild) (err error) {
	if b.st == nil {
		if b.st, err = trust.State(ctx, b.m, r.Project.ID); err != nil {
			return err
		}
	}
	s := b.st.Session(r.Session)
	if s == nil || !b.st.Free(r.Session, b.m.Refs.Device().ID, r.Label) {
		return nil
	}
	settings, err := r.Settings.Asked(r.Counter)
	if err != nil {
		return err
	}
	now := s.Now()
	rev := state.Rev{Kind: state.IsSession, Project: r.Project, Session: s, Hash: now.Original}
	basis := trust.Basis{Point: now, Input: now.Original, Label: r.Label, Purpose: r.For}
	c, err := derive.CompressBy(ctx, b.m, derive.CompressRun{State: b.st, Save: b.keep}, rev, basis, settings)
	if err != nil {
		return storeError(err)
	}
	if c.Existed {
		b.names = append(b.names, c.Version.Derivation.Output.String())
	}
	if len(b.pending) < RebuildBatch {
		return nil
	}
	return b.commit(ctx)
}

// keep stages a version until the batch is committed.
func (b *rebuilder) keep(ctx context.Context, c derive.CompressResult,
	bodies [][]byte) (_ derive.CompressResult, err error) {
	if b.stage == nil {
		if b.stage, err = b.m.Refs.Stage(ctx); err != nil {
			return c, err
		}
	}
	for _, body := range bodies {
		if _, err := b.stage.Put(body); err != nil {
			return c, err
		}
	}
	b.pending = append(b.pending, c)
	return c, nil
}

// commit commits the batch, except versions that another writer made meanwhile or whose input was deleted meanwhile.
func (b *rebuilder) commit(ctx context.Context) error {
	defer b.close()
	if len(b.pending) == 0 {
		return nil
	}
	var names []string
	err := b.m.Refs.Update(ctx, b.project, "compress  "+records.Numbered(len(b.pending), "version", "versions")+" again",
		func(tx *refs.Tx) error {
			names = nil
			st, err := b.m.Fold(ctx, tx, b.project)
			if err != nil {
				return err
			}
			if err := tx.Adopt(b.stage); err != nil {
				return err
			}
			tx.Trailer("Op", "rebuild")
			taken := map[lineage.Key]bool{}
			for _, c := range b.pending {
				v := c.Version
				key := v.Derivation.Key()
				if st.Made(key) != nil || taken[key] {
					names = append(names, v.Derivation.Output.String())
					continue
				}
				if err := originals.CheckInputs(ctx, tx, v.Derivation.Inputs...); err != nil {
					if err := storeError(err); err != nil {
						return err
					}
					continue
				}
				taken[key] = true
				names = append(names, v.Derivation.Output.String())
				if !st.Free(v.Session, b.m.Refs.Device().ID, v.Label) {
					v.Label = st.NextLabel(v.Session, b.m.Refs.Device().ID)
				}
				rec, err := tx.Add(records.KindVersion, v)
				if err != nil {
					return err
				}
				v.ID, v.Device, v.Time = rec.ID, rec.Device, rec.Time
				st.Versions = append(st.Versions[:len(st.Versions):len(st.Versions)], v) // its label is taken
			}
			return nil
		})
	b.names = append(b.names, names...)
	return err
}

// close discards the versions that were not committed.
func (b *rebuilder) close() {
	if b.stage != nil {
		b.stage.Close()
	}
	b.stage, b.st, b.pending = nil, nil, nil
}
