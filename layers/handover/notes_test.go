package handover

import "testing"

// Two sentences contradict each other if they differ in a negation or a number alone; another word is another subject.
func TestContradicts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Never deploy on Fridays.", "Deploy on Fridays.", true},
		{"Don’t deploy on Fridays", "deploy on fridays", true},
		{"Retries stop after 3 attempts", "retries stop after 5 attempts", true},
		{"Retries stop after 3 attempts", "Retries stop after 3 attempts.", false},
		{"Never deploy on Fridays.", "Do not deploy on Fridays.", false},
		{"Never deploy on Fridays.", "Deploy on Mondays.", false},
		{"Never deploy on Fridays.", "Deploy on Fridays only after a review.", false},
		{"Not this", "this", false},
		{"", "", false},
	} {
		if got := claimOf(c.a).contradicts(claimOf(c.b)); got != c.want {
			t.Errorf("%q contradicts %q: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
