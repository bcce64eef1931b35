package capture_test

import (
	"context"
	"testing"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/layerstest"
)

// TestCountMissing counts the sessions that fit into the bytes to read, the newest first, and none twice.
func TestCountMissing(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	p := layerstest.Add(t, m, layerstest.Session(t, "a1", "/home/dev/shop", 4), layerstest.Session(t, "a2", "/home/dev/shop", 4))[0].Project.ID
	counted := func() (n int) {
		t.Helper()
		for _, s := range stateOf(t, m, p).Recent() {
			if tokens, ok := capture.TokensOf(m.DB, p, s); ok {
				if n++; tokens < 4 {
					t.Errorf("session %s has %d tokens", s.ID, tokens)
				}
			}
		}
		return n
	}
	if n := counted(); n != 0 {
		t.Fatalf("%d sessions are counted after their capture", n)
	}
	size := sessionOf(t, m, p, "a1").Now().Size
	if left := capture.CountMissing(t.Context(), m.DB, p, size-1); left != size-1 || counted() != 0 {
		t.Errorf("with too few bytes: %d left, %d counted", left, counted())
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if left := capture.CountMissing(cancelled, m.DB, p, 3*size); left != 3*size {
		t.Errorf("with a cancelled context: %d left", left)
	}
	if left := capture.CountMissing(t.Context(), m.DB, p, size); left != 0 || counted() != 1 {
		t.Errorf("with the bytes of one session: %d left, %d counted", left, counted())
	}
	capture.WriteTokens(m.DB)
	m = layerstest.Reopen(t, m)
	if n := counted(); n != 1 {
		t.Errorf("the next process knows %d counts, want 1", n)
	}
	if left := capture.CountMissing(t.Context(), m.DB, p, 10*size); left != 9*size || counted() != 2 {
		t.Errorf("with the bytes of ten: %d left, %d counted; want that of one more read", left, counted())
	}
}

// TestCountAdded counts what was added, and not what was added without a commit.
func TestCountAdded(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	src := []capture.Source{layerstest.Session(t, "a1", "/home/dev/shop", 4), layerstest.Session(t, "b1", "/home/dev/blog", 4)}
	dry, err := capture.Add(t.Context(), m.DB, src, capture.AddOptions{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := capture.CountAdded(t.Context(), m.DB, dry); err != nil || dry[0].Counted {
		t.Errorf("a dry run is counted: %+v, %v", dry[0], err)
	}
	for range 2 {
		added := layerstest.Add(t, m, src...)
		err := capture.CountAdded(t.Context(), m.DB, added)
		for _, a := range added {
			if err != nil || !a.Counted || a.Tokens < 4 {
				t.Errorf("%s %s has %d tokens, counted %v, %v", a.Change, a.Session, a.Tokens, a.Counted, err)
			}
		}
	}
}
