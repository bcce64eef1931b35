package api

import "testing"

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
