package provenance_test

import (
	"context"
	"testing"

	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// TestVersionWithoutSession compares and explains in a project that has a version without its session, as an incomplete
// lane of another device can have.
func TestVersionWithoutSession(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m, revs := layerstest.SampleSessions(t)
	c, err := derive.Compress(ctx, m.DB, revs[0], planning.Settings{Ratio: 3}, false)
	if err != nil {
		t.Fatal(err)
	}
	below := *c.Version // a version made of the one without a session
	err = m.Refs.Update(ctx, revs[0].Project.ID, "version", func(tx *refs.Tx) error {
		v := *c.Version
		v.Session = "ffffffff-ffff-4fff-8fff-ffffffffffff"
		r, err := tx.Add(records.KindVersion, v)
		below.Source, below.Base = v.Label, r.ID
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provenance.Why(ctx, m.DB, layerstest.VersionRev(revs[0], derive.CompressResult{Version: &below})); err != nil {
		t.Error(err)
	}
	got, err := provenance.CompareSince(ctx, m.DB, state.Scope{Project: revs[0].Project}, state.Rev{})
	if err != nil || got.A.Rev.Version == nil || got.A.Rev.Version.ID != c.Version.ID {
		t.Errorf("compared with %s, %v, want %s", got.A.Name, err, c.Version.Label)
	}
}
