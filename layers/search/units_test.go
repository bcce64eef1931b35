package search

import (
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/search/index"
)

// TestUnits checks that a mark that closes a sentence belongs to it, and that the number of an item is no sentence.
func TestUnits(t *testing.T) {
	t.Parallel()
	long := "2. Keep the queue. " + strings.Repeat("It is read in order ", 12) + "by one worker."
	for text, want := range map[string][]string{
		"**Ready to merge.** Want me to? (No.) It waits.": {"**Ready to merge.**", "Want me to?", "(No.)", "It waits."},
		"See layers/a.go. Then stop.":                     {"See layers/a.go.", "Then stop."},
		long:                                              {"2. Keep the queue.", strings.TrimPrefix(long, "2. Keep the queue. ")},
	} {
		var got []string
		for _, u := range units(text) {
			got = append(got, text[u.start:u.end])
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("units of %q: %q, want %q", text, got, want)
		}
	}
}

// TestCutLeadIn checks which sentences only announce the call after them.
func TestCutLeadIn(t *testing.T) {
	t.Parallel()
	for text, before := range map[string]string{
		"Let me fix the credo issues. First, the implicit try:":   "",
		"Now check if a handler might crash. Let me search it.":   "",
		"The index is stale. Let me run the tests.":               "The index is stale.",
		"The cause is this: a lock. Now the tests pass.":          "The cause is this: a lock. Now the tests pass.",
		"It fails here:\nNext, run the tests. Let me look at it.": "It fails here:",
		"Add the handler to keep the order.":                      "Add the handler to keep the order.",
	} {
		got, last := cutLeadIn(text)
		if got != before || strings.TrimSpace(strings.TrimPrefix(text, before)) != last {
			t.Errorf("%q: got %q and %q, want %q", text, got, last, before)
		}
	}
}

// TestLonger checks that an identifier that is only in longer ones is found there, and not by its parts.
func TestLonger(t *testing.T) {
	t.Parallel()
	c := corpus(t, map[string][]index.Doc{
		"a": texts("the author in git: get it of git, author first"), "b": texts("run TestGetGitAuthor again"), "c": texts("GetGitAuthorFromRepo is new"),
	})
	for words, want := range map[string]string{"GetGitAuthor": "b c", "is GetGitAuthor new": "b c", "GetGitZebra": "a b c"} {
		r, err := Search(c, Query{Words: words, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range r.Hits {
			got = append(got, h.Session.ID)
		}
		if slices.Sort(got); strings.Join(got, " ") != want || len(r.Missing) > 0 != (words == "GetGitZebra") {
			t.Errorf("%s: got %s, missing %+v, want %s", words, got, r.Missing, want)
		}
	}
}

// TestOneGap checks that a passage within a long line begins with one mark of what is left out.
func TestOneGap(t *testing.T) {
	t.Parallel()
	d := index.Doc{Class: index.Tool, Text: "first\n" + strings.Repeat("lorem ipsum ", 100) + "needle " + strings.Repeat("dolor ", 100)}
	got := NewSnippets(Query{Words: "needle"}).Passage(d, 100).Text
	if !strings.HasPrefix(got, "… ") || strings.HasPrefix(got, "…  …") || !strings.Contains(got, "needle") {
		t.Errorf("got %q", got)
	}
}
