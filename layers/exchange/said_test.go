package exchange

import (
	"strings"
	"testing"
)

// TestOffers has lines with and without the option that a reply chooses.
func TestOffers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reply, text string
		want        bool
	}{
		{"A", "1. **Context loss** - the agent knows more", false},
		{"A", "A trivial page would do.", false},
		{"A", "**A)** one agent", true},
		{"I'd like it to do B", "| **B. Branch-only** | commits of the branch |", true},
		{"let's go with option c, and for main all of them", "### Option C: both", true},
		{"do 2 and 3", "1. a table\n2. a file\n3. Redis", true},
		{"do 4", "1. a table\n2. a file\n3. Redis", false},
		{"do 1,2 and 5", "2. a file", true},
		{"both please", "Two ways are left.", false},
		{"thanks", "1. a table", false},
		{strings.Repeat("long ", 40) + "A", "A) one agent", false},
	} {
		names, _ := Chosen(c.reply)
		if _, got := Offers(c.text, names); got != c.want {
			t.Errorf("%q chooses %q: %t", c.reply, c.text, got)
		}
	}
}
