package markers_test

import (
	"testing"

	"github.com/memvcs/mem/layers/markers"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/state"
)

// TestRecorded checks that a text with a removed and an added marker counts once.
func TestRecorded(t *testing.T) {
	t.Parallel()
	mark := func(start, text, end int, w keepit.Weight) planning.Mark {
		return planning.Mark{Message: 1, Marker: keepit.Marker{Weight: w, Start: start, End: end, TextStart: text,
			TextEnd: end}}
	}
	all := []state.Keepit{
		{ID: "k1", Mark: mark(0, 14, 20, 80), Removed: true},
		{ID: "a1", Mark: mark(14, 14, 20, 100), Added: true},
		{ID: "k2", Mark: mark(30, 44, 50, 80), Removed: true},
	}
	plan := planning.Plan{Kept: []planning.Span{{Message: 1, Start: 14, End: 20, Weight: 100},
		{Message: 1, Start: 44, End: 50, Weight: 80}}}
	got := markers.Recorded(all, plan)
	if len(got) != 2 || got[0].Start != 14 || got[0].Weight != 100 || got[1].Start != 30 {
		t.Errorf("recorded = %+v", got)
	}
}
