package search

import (
	"cmp"
	"container/heap"
	"iter"
	"slices"
)

// A ranked is a document or session with its score.
type ranked struct {
	n     int32
	score float32
}

func byScore(a, b ranked) int {
	switch {
	case a.score != b.score && a.score > b.score:
		return -1
	case a.score != b.score:
		return 1
	}
	return cmp.Compare(a.n, b.n)
}

func sortRanked(all []ranked) { slices.SortFunc(all, byScore) }

// bestFirst yields what sortRanked would, in that order, and orders only as much as is asked for.
func bestFirst(all []ranked) iter.Seq[ranked] {
	return func(yield func(ranked) bool) {
		h := rankedHeap(all)
		for heap.Init(&h); len(h) > 0 && yield(h[0]); heap.Pop(&h) {
		}
	}
}

// A rankedHeap is a heap with the best on top. Nothing is added to it.
type rankedHeap []ranked

func (h rankedHeap) Len() int           { return len(h) }
func (h rankedHeap) Less(i, j int) bool { return byScore(h[i], h[j]) < 0 }
func (h rankedHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h rankedHeap) Push(any)           {}

// Pop removes the last element and returns nothing, which nobody asks for.
func (h *rankedHeap) Pop() any {
	*h = (*h)[:len(*h)-1]
	return nil
}
