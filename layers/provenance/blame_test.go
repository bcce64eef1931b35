package provenance

import (
	"math"
	"reflect"
	"testing"

	"github.com/memvcs/mem/layers/trace"
	"github.com/memvcs/mem/layers/version"
)

// TestMessagesThatDoNotExist traces pieces that name more messages than their session has.
func TestMessagesThatDoNotExist(t *testing.T) {
	t.Parallel()
	b := &blamer{sources: map[string]*sourceText{"s": {last: 10, results: map[int]int{2: 7}}}}
	piece := func(keep string, src ...[2]int) trace.Piece {
		return trace.Piece{Source: "s", Segment: version.Segment{Keep: keep, Src: src}}
	}
	got := b.withResults([]trace.Piece{
		piece("", [2]int{1, 2}), piece("", [2]int{2, 3}, [2]int{9, math.MaxInt}), piece("1.00", [2]int{2, math.MaxInt}),
		piece("", [2]int{11, 12}),
	})
	for i, want := range [][][2]int{{{1, 2}, {7, 7}}, {{2, 3}, {7, 7}, {9, 10}}, {{2, 10}}, nil} {
		if !reflect.DeepEqual(got[i].Src, want) {
			t.Errorf("piece %d: messages %v, want %v", i, got[i].Src, want)
		}
	}
}
