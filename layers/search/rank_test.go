package search

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBestFirst compares the order of the heap with that of the sort.
func TestBestFirst(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		all := make([]ranked, n)
		for i := range all {
			all[i] = ranked{int32(i), float32(r.IntN(20))}
		}
		want := slices.Clone(all)
		sortRanked(want)
		if got := slices.Collect(bestFirst(all)); !slices.Equal(got, want) {
			t.Fatalf("%d documents: got %v, want %v", n, got, want)
		}
	}
}
