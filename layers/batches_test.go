package layers

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The commits of an import hold every source once and in order, no session twice, and no more than a kill may cost; of a large
// project there are few, because each reads the whole of it.
func TestBatches(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, batchFiles, batchFiles + 1, 3000, 100_000} {
		g := &group{}
		for i := range n {
			id := i
			if rnd.IntN(5000) == 0 && i > 0 {
				id-- // found in two places
			}
			g.sources = append(g.sources, Source{Path: fmt.Sprintf("/a/%08d.jsonl", id)})
			g.sizes = append(g.sizes, int64(rnd.IntN(8000)))
		}
		if n == 3000 {
			g.sizes[7], g.sizes[2000] = batchBytes+1, batchBytes
		}
		at, batches := 0, g.batches()
		for _, b := range batches {
			ids, bytes := map[string]bool{}, int64(0)
			for i, src := range b {
				if src.Path != g.sources[at+i].Path {
					t.Fatalf("of %d sources, number %d is %s, want %s", n, at+i, src.Path, g.sources[at+i].Path)
				}
				if ids[src.SessionID()] {
					t.Errorf("of %d sources, session %s is twice in a commit", n, src.SessionID())
				}
				ids[src.SessionID()] = true
				bytes += g.sizes[at+i]
			}
			if most := min(max(batchFiles, at/8), batchMost); len(b) == 0 || len(b) > most || bytes > batchBytes && len(b) > 1 {
				t.Errorf("of %d sources, after %d: a commit of %d, %d bytes; want at most %d, %d bytes", n, at, len(b), bytes, most, int64(batchBytes))
			}
			at += len(b)
		}
		if at != n {
			t.Errorf("%d of %d sources are in commits", at, n)
		}
		if n == 100_000 && len(batches) > 100 {
			t.Errorf("%d sources make %d commits", n, len(batches))
		}
	}
}
