package api

import (
	"testing"

	"github.com/memvcs/mem/layers/knowledge/permanent"
)

// TestWeightRange checks the limits of a search by weight.
func TestWeightRange(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		low, high string
		in, out   []int
	}{
		{"0.50", "", []int{50, 100}, []int{-1, 49}},
		{"", "0.50", []int{0, 50}, []int{-1, 51}},
		{"0.50", "0.80", []int{50, 80}, []int{49, 81}},
		{"0.80", "0.80", []int{80}, []int{0, 50, 79, 81}},
	} {
		f, err := weightRange(tt.low, tt.high)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range tt.in {
			if !f(w) {
				t.Errorf("%q to %q lacks %d", tt.low, tt.high, w)
			}
		}
		for _, w := range tt.out {
			if f(w) {
				t.Errorf("%q to %q contains %d", tt.low, tt.high, w)
			}
		}
	}
}

// TestValidRules checks that a rule without evidence is not in the lists.
func TestValidRules(t *testing.T) {
	t.Parallel()
	set := &permanent.Set{Rules: []*permanent.Rule{{ID: "r:1"}, {ID: "r:2", Revoked: "no evidence is left"}, {ID: "r:3"}}}
	if got := ValidRules(set); len(got) != 2 || got[0].ID != "r:1" || got[1].ID != "r:3" || len(set.Rules) != 3 {
		t.Errorf("ValidRules = %v", got)
	}
}
