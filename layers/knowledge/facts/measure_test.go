package facts

import (
	"fmt"
	"slices"
	"testing"
)

// TestMeasure: quotes and words cover turns, wrong facts cover nothing, short turns do not count.
func TestMeasure(t *testing.T) {
	t.Parallel()
	turns := []Turn{
		{1, ByUser, "Store prices as whole cents in the shop database"},
		{4, ByAssistant, "The migration of the database converts every price column to cents."},
		{5, ByUser, "yes, go on"},
		{8, ByUser, "Rename the coupon table before the release on Friday"},
		{9, ByAssistant, "Renamed the coupon table; the release notes mention it."},
	}
	quoted := Fact{Verdict: Verified, Text: "Prices are whole cents.", Evidence: []Evidence{{Message: 1, Quote: "prices as whole cents"}}}
	for _, test := range []struct {
		name   string
		facts  []Fact
		cited  int
		missed []int
		figure [2]int // integrity, coverage
	}{
		{"none", nil, 0, []int{1, 4, 8, 9}, [2]int{-1, 0}},
		{"a quote", []Fact{quoted}, 1, []int{4, 8, 9}, [2]int{100, 25}},
		{"words of another turn", []Fact{quoted, {Verdict: Quoted, Text: "The migration converts each price column of the database to cents."}}, 1, []int{8, 9}, [2]int{50, 50}},
		{"a wrong fact", []Fact{quoted, {Verdict: Rejected, Text: turns[3].Text, Evidence: []Evidence{{Message: 8, Quote: "coupon"}}}}, 1, []int{4, 8, 9}, [2]int{50, 25}},
		{"too few words", []Fact{quoted, {Verdict: Verified, Text: "There is a coupon."}}, 1, []int{4, 8, 9}, [2]int{100, 25}},
	} {
		f := Measure(turns, test.facts)
		if f.Turns != 4 || f.Cited != test.cited || !slices.Equal(f.Missed, test.missed) || f.Covered != 4-len(f.Missed) || [2]int{f.Integrity(), f.Coverage()} != test.figure {
			t.Errorf("%s: %+v, integrity %d, coverage %d, want %d cited, %v missed, %v", test.name, f, f.Integrity(), f.Coverage(), test.cited, test.missed, test.figure)
		}
		if again := Measure(turns, test.facts); fmt.Sprint(again) != fmt.Sprint(f) {
			t.Errorf("%s: %+v, then %+v", test.name, f, again)
		}
		if sum := f.Add(f); sum.Turns != 2*f.Turns || sum.Integrity() != f.Integrity() || sum.Coverage() != f.Coverage() {
			t.Errorf("%s: twice is %+v", test.name, sum)
		}
	}
	if f := Measure(nil, nil); f.Coverage() != -1 || f.Integrity() != -1 {
		t.Errorf("of nothing: %+v", f)
	}
}
