package search

import (
	"cmp"
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
		heapify(all, byScore)
		for rest := all; len(rest) > 0; {
			if !yield(rest[0]) {
				return
			}
			last := len(rest) - 1
			rest[0] = rest[last]
			rest = rest[:last]
			siftDown(rest, 0, byScore)
		}
	}
}

// heapify makes a heap.
func heapify(all []ranked, by func(a, b ranked) int) {
	for i := len(all)/2 - 1; i >= 0; i-- {
		siftDown(all, i, by)
	}
}

// siftDown restores a heap below element i.
func siftDown(heap []ranked, i int, by func(a, b ranked) int) {
	for {
		k := 2*i + 1
		if k >= len(heap) {
			return
		}
		if k+1 < len(heap) && by(heap[k+1], heap[k]) < 0 {
			k++
		}
		if by(heap[i], heap[k]) <= 0 {
			return
		}
		heap[i], heap[k] = heap[k], heap[i]
		i = k
	}
}
