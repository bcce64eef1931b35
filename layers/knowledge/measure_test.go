package knowledge

import (
	"fmt"
	"testing"
)

// TestFigures: integrity is the share of verified facts, coverage that of covered turns; of nothing there is none.
func TestFigures(t *testing.T) {
	t.Parallel()
	f := Figures{Facts: 4, Verified: 1, Turns: 3, Covered: 2}
	if got := fmt.Sprint(f.Integrity(), f.Coverage(), f.Add(f).Facts, Figures{}.Integrity(), Figures{}.Coverage()); got != "25 67 8 -1 -1" {
		t.Error(got)
	}
}
