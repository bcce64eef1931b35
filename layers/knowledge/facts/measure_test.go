package facts

import (
	"fmt"
	"testing"
)

// TestMeasure: integrity counts what a reader verified; a turn is covered by the quote of a fact that is there.
func TestMeasure(t *testing.T) {
	t.Parallel()
	quote := func(v Verdict, n int) Fact { return Fact{Verdict: v, Evidence: []Evidence{{Message: n}}} }
	f := Measure([]int{1, 4, 9}, []Fact{quote(Verified, 1), quote(Quoted, 4), quote(Rejected, 9), {Verdict: Stated}})
	if got := fmt.Sprint(f, f.Integrity(), f.Coverage()); got != "{4 1 1 1 1 3 2 [9]} 25 67" {
		t.Error(got)
	}
	if f = Measure(nil, nil); f.Integrity() != -1 || f.Coverage() != -1 || f.Missed == nil {
		t.Errorf("of nothing: %+v", f)
	}
}
