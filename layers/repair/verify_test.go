package repair_test

import (
	"bytes"
	"context"
	"os"
	"slices"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// TestCheckExistence removes a derived text from the store: the state names it, and both checks report it.
func TestCheckExistence(t *testing.T) {
	t.Parallel()
	ctx, m := t.Context(), layerstest.NewMemory(t, layerstest.TestOptions())
	p := layerstest.Add(t, m, layerstest.Session(t, "s1", "/home/dev/shop", 40))[0].Project
	c, err := derive.Compress(ctx, m.DB, layerstest.RevOf(t, m, "s1"), planning.Settings{Ratio: 4}, false)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := repair.CheckExistence(ctx, m.DB); err != nil || len(got.Problems) > 0 || got.Versions != 1 {
		t.Fatalf("of a sound store: %+v, %v", got, err)
	}
	lost := entryOf(t, m, lane.Ref(p.ID, m.Refs.Device().ID), lane.ObjectPath(c.Version.Derivation.Output)...).ID
	if err := pack.Drop(m.Refs.Git().PackDir(), "merge", func(id pack.ID) bool { return id != lost }); err != nil {
		t.Fatal(err)
	}
	m = layerstest.Reopen(t, m)
	for name, check := range map[string]func() (repair.Checked, error){
		"existence": func() (repair.Checked, error) { return repair.CheckExistence(ctx, m.DB) },
		"all":       func() (repair.Checked, error) { return repair.Check(ctx, m.DB, false) },
	} {
		got, err := check()
		if err != nil || len(got.Problems) == 0 {
			t.Errorf("%s, project %s: %+v, %v", name, p.Name, got, err)
		}
	}
}

// TestRealTranscripts takes the sessions under MEM_TRANSCRIPTS through the whole journey and compares every
// original byte for byte.
func TestRealTranscripts(t *testing.T) {
	dir := os.Getenv("MEM_TRANSCRIPTS")
	if dir == "" {
		t.Skip("SKIPPED: set MEM_TRANSCRIPTS to a directory of Claude Code sessions")
	}
	ctx := context.Background()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	sources, err := capture.Sources(dir)
	if err != nil {
		t.Fatal(err)
	}
	added, err := capture.Add(ctx, m.DB, sources, capture.AddOptions{})
	if err != nil {
		t.Errorf("Add: %v", err)
	}
	last := map[string]string{}
	for _, a := range added {
		last[a.Session] = a.Path
	}
	for _, a := range added {
		if last[a.Session] != a.Path || a.Change == "unchanged" {
			continue // another copy of the session is the newest
		}
		want, err := os.ReadFile(a.Path)
		if err != nil {
			t.Fatal(err)
		}
		st, err := trust.State(ctx, m.DB, a.Project.ID)
		if err != nil {
			t.Fatal(err)
		}
		s := st.Session(a.Session)
		var got bytes.Buffer
		if err := originals.WriteOriginal(ctx, m.DB, a.Project.ID, s, s.Now(), &got); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("original of %s: %d bytes, %v, want %d", a.Session, got.Len(), err, len(want))
		}
	}
	if err := derive.CacheL1(ctx, m.DB, added, nil); err != nil {
		t.Errorf("Derive: %v", err)
	}
	guessed(t, m, added)
	for _, a := range added[:min(40, len(added))] {
		st, err := trust.State(ctx, m.DB, a.Project.ID)
		if err != nil {
			t.Fatal(err)
		}
		rev := state.Rev{Kind: state.IsSession, Project: a.Project, Session: st.Session(a.Session)}
		c, err := derive.Compress(ctx, m.DB, rev, planning.Settings{Ratio: 10}, false)
		if err != nil {
			t.Errorf("compress %s: %v", a.Session, err)
			continue
		}
		if v := c.Version; v.TokensOut > c.Plan.Budget || c.Plan.Budget > 100 && v.TokensOut*100 < 85*c.Plan.Budget {
			t.Errorf("compress %s: %d tokens of a budget of %d", a.Session, v.TokensOut, c.Plan.Budget)
		}
	}
	checked, err := repair.Check(ctx, m.DB, true)
	if err != nil || len(checked.Problems) > 0 {
		t.Errorf("check: %v %v", checked.Problems, err)
	}
	t.Logf("%d sessions, %+v", len(added), checked.Counts)
}

// guessed compares what capture says of the size of sessions with what they count.
func guessed(t *testing.T, m *layers.Memory, added []capture.Added) {
	var off []float64
	for _, a := range added {
		st, err := trust.State(t.Context(), m.DB, a.Project.ID)
		if err != nil {
			t.Fatal(err)
		}
		if now := st.Session(a.Session).Now(); now.Original != a.Now.Original || now.Size < 100<<10 {
			continue
		}
		c, err := checkout.Count(t.Context(), m.DB, state.Rev{Kind: state.IsSession, Project: a.Project, Session: st.Session(a.Session)})
		if err != nil {
			t.Fatal(err)
		}
		guess := markers.Estimate(m.DB, &records.Point{Snapshot: a.Now}, nil)
		off = append(off, max(float64(guess)/float64(c.Tokens), float64(c.Tokens)/float64(guess)))
	}
	slices.Sort(off)
	if n := len(off); n > 20 {
		t.Logf("%d sessions over 100 KB: guesses are off by a factor of %.2f (median), %.2f (95 %%), %.2f (worst)", n, off[n/2], off[n*95/100], off[n-1])
		if off[n/2] > 1.15 || off[n*95/100] > 1.5 {
			t.Error("guesses of tokens are further off than they were")
		}
	}
}
