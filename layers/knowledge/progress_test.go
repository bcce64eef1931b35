package knowledge_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// TestDebt adds to the layers one after the other: what is lacking grows less, and only by what was done.
func TestDebt(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m, sessions := layerstest.SampleSessions(t)
	var rev state.Rev
	for _, s := range sessions {
		if s.Session.ID == "6ecd8c99-4036-403d-bf84-cf8400f67836" {
			rev = s
		}
	}
	p := rev.Project
	debt := func() knowledge.Progress {
		t.Helper()
		d, err := knowledge.ReadProgress(ctx, m.DB, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	say := func(kind string, body any) {
		t.Helper()
		err := m.Refs.Update(ctx, p.ID, kind, func(tx *refs.Tx) error {
			tx.Trailer("Op", "facts")
			_, err := tx.Add(kind, body)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	first := debt()
	if first.Sessions != 5 || first.L1 != 5 || !slices.Contains(first.L2, rev.Session.ID) || first.Distilled+first.Facts+first.L3 != 0 || first.L4 {
		t.Fatalf("at first %+v", first)
	}
	if n, err := derive.Refine(ctx, m.DB, p, nil); err != nil || n != 5 {
		t.Fatalf("Refine = %d, %v", n, err)
	}
	if d := debt(); d.L1 != 0 {
		t.Errorf("after refining %+v", d)
	}
	say(facts.KindExchange, facts.Exchange{Session: rev.Session.ID, From: 1, To: 9, Facts: []facts.Fact{{Kind: facts.Decision, Text: "Cents.", Verdict: facts.Verified}}})
	if d := debt(); d.Facts != 1 || d.Exchanges != 1 || d.L3 != 1 || !d.L4 || !slices.Contains(d.L2, rev.Session.ID) || d.Distilled != 0 {
		t.Errorf("after a fact %+v", d)
	}
	say(facts.KindDistilled, facts.Distilled{Session: rev.Session.ID, Generation: 0, Through: rev.Session.Now().Scan.Values})
	if d := debt(); slices.Contains(d.L2, rev.Session.ID) || len(d.L2) != len(first.L2)-1 || d.Distilled != 1 {
		t.Errorf("after distilling %+v", d)
	}
	if _, err := knowledge.Reflect(ctx, m.DB, p, time.Time{}, false); err != nil {
		t.Fatal(err)
	}
	if d := debt(); d.L4 || !d.Reflected.Equal(m.Opts.Now()) {
		t.Errorf("after reflecting %+v", d)
	}
}
