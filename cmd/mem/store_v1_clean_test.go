package main

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"regexp"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/forget"
	sources "github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// wordRules take words for secrets that stand in the sessions, titles and versions of the store.
func wordRules() redact.Rules {
	word := regexp.MustCompile(`Prices|again`)
	return redact.Rules{ID: "words 2", Rules: []redact.Rule{func(b []byte) iter.Seq[redact.Finding] {
		return func(yield func(redact.Finding) bool) {
			for _, at := range word.FindAllIndex(b, -1) {
				if !yield(redact.Finding{Start: at[0], End: at[1], Rule: "word"}) {
					return
				}
			}
		}
	}}}
}

// originals returns the exact bytes of every growth point of every session that this device has, in the order of records.
func originals(t *testing.T, m *layers.Memory) (out [][]byte) {
	t.Helper()
	ctx := context.Background()
	projects, err := trust.Projects(ctx, m.DB)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range projects {
		st, err := trust.State(ctx, m.DB, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range st.Sessions {
			for i := range s.Points {
				var b bytes.Buffer
				if err := sources.WriteOriginal(ctx, m.DB, p.ID, s, &s.Points[i], &b); err != nil && !errors.Is(err, sources.ErrWithheld) {
					t.Fatal(err)
				}
				out = append(out, b.Bytes())
			}
		}
	}
	return out
}

// TestStoreV1Clean removes secrets from a store that was written before there were rules, as its first push does: the lanes
// start again without them, the store is valid, and every exact byte can still be restored.
func TestStoreV1Clean(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := copyStoreV1(t)
	now := func() time.Time { return time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC) }
	m, err := layers.Open(dir, state.Options{Now: now, Rand: bytes.NewReader(make([]byte, 1<<16)), LockTimeout: time.Second, Workers: 2, Rules: wordRules()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	want := originals(t, m)
	projects, err := trust.Projects(ctx, m.DB)
	if err != nil {
		t.Fatal(err)
	}
	cleaned := 0
	for _, p := range projects {
		done, err := forget.CleanLane(ctx, m.DB, p.ID)
		if err != nil {
			t.Fatalf("clean %s: %v", p.Name, err)
		}
		cleaned += done.Sessions
		leaks, err := secrets.ScanOutgoing(ctx, m.DB, p.ID, func(string) bool { return false })
		if err != nil || len(leaks) > 0 {
			t.Errorf("%s: leaks %v, %v", p.Name, leaks, err)
		}
	}
	if cleaned == 0 {
		t.Error("no session was cleaned")
	}
	c, err := repair.Check(ctx, m.DB, true)
	if err != nil || len(c.Problems) > 0 {
		t.Errorf("check: %v, %v", c.Problems, err)
	}
	got := originals(t, m)
	if len(got) != len(want) {
		t.Fatalf("%d growth points, want %d", len(got), len(want))
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("growth point %d has other bytes", i)
		}
	}
}
