package tokens

import (
	"slices"
	"strings"
	"testing"
)

// TestSentences checks where a line of prose is divided.
func TestSentences(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"Makes it clear when a step can be left out (local sessions vs. remote ones). The rest stays.",
			[]string{"Makes it clear when a step can be left out (local sessions vs. remote ones).", "The rest stays."}},
		{"The queue has two readers (one is old. It goes soon.) and a writer. Nothing else uses it.",
			[]string{"The queue has two readers (one is old. It goes soon.) and a writer.", "Nothing else uses it."}},
		{"Keep what is typed by hand, e.g. Names and dates of people. Everything else may go.",
			[]string{"Keep what is typed by hand, e.g. Names and dates of people.", "Everything else may go."}},
		{"Dates, names, places, numbers etc. are kept in the table. All of them are typed by hand.",
			[]string{"Dates, names, places, numbers etc. are kept in the table.", "All of them are typed by hand."}},
		{"The table has dates, names, places, numbers etc. All of them are typed by hand.",
			[]string{"The table has dates, names, places, numbers etc.", "All of them are typed by hand."}},
		{"That did not work at all for me :( so I stopped it. The next try was (nearly) better.",
			[]string{"That did not work at all for me :( so I stopped it.", "The next try was (nearly) better."}},
		{"It is (as it was said before.) Then the second sentence goes on from there to the end.",
			[]string{"It is (as it was said before.)", "Then the second sentence goes on from there to the end."}},
	} {
		var got []string
		for rest := c.line; rest != ""; {
			n, _ := Sentence(rest)
			got, rest = append(got, strings.TrimSpace(rest[:n])), rest[n:]
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q:\n got %q\nwant %q", c.line, got, c.want)
		}
	}
}
