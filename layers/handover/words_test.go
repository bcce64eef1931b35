package handover

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/state"
)

// TestChosenItems has requests that choose from a list by number, and others with a number.
func TestChosenItems(t *testing.T) {
	t.Parallel()
	const list = "Two ways:\n\n1. **Round once** - at the end\n2. Keep mills\n\n### Option 3: a table\nIt is big.\n\n- 4 shops use it"
	for request, want := range map[string]string{
		"2":                             "2. Keep mills",
		"ok let's do 1 and create a PR": "1. Round once - at the end",
		"do 1, 2 and 3":                 "1. Round once - at the end; 2. Keep mills; 3. a table",
		"go with option 3 please":       "3. a table",
		"fix 2 tests":                   "", // it counts
		"2. Keep the old one":           "", // an item of his own
		"do 4":                          "", // no item
		"do 1 and 9":                    "",
		"round at 2 digits":             "",
	} {
		if got := chosenItems(request, list); got != want {
			t.Errorf("chosenItems(%q) = %q, want %q", request, got, want)
		}
	}
	if got := chosenItems("do 1", list+"\n1. another list"); got != "" {
		t.Errorf("of two lists: %q", got)
	}
}

// TestPostings holds the words that are found by the postings, read back from the bytes of the file, against those of the texts.
func TestPostings(t *testing.T) {
	t.Parallel()
	f := digestFile{}
	vocabulary := strings.Fields("price tax round parser ledger invoice retry timeout cache index branch merge")
	for i := range 40 {
		var d Digest
		for k := range i % 5 {
			var words []string
			for j := range vocabulary {
				if (i*7+k*3+j*j)%4 == 0 {
					words = append(words, vocabulary[j], vocabulary[j]+"s")
				}
			}
			d.Turns = append(d.Turns, Turn{Asked: Said{N: k, Text: strings.Join(words, " ")}, Answered: Said{N: k, Text: fmt.Sprintf("turn%d", i)}})
		}
		f.List = append(f.List, storedDigest{Digest: d})
	}
	f.Words = post(f.List)
	var read digestFile
	if !state.Decode(state.Encode(digestVersion, &f), digestVersion, &read) {
		t.Fatal("what was written cannot be read")
	}
	asked := []string{"price", "cache", "turn7", "merge", "nowhere"}
	wanted := map[string]bool{}
	for _, w := range asked {
		wanted[w] = true
	}
	found := 0
	got := read.turnsWith(asked)
	for i, d := range f.List {
		if len(got[i]) != len(d.Turns) {
			t.Fatalf("digest %d has %d turns, want %d", i, len(got[i]), len(d.Turns))
		}
		for k, turn := range d.Turns {
			want := exchange.Shared(turn.Asked.Text+" "+turn.Answered.Text, wanted)
			slices.Sort(want)
			have := slices.Sorted(slices.Values(got[i][k]))
			if !slices.Equal(have, want) {
				t.Errorf("turn %d of digest %d has %q, want %q", k, i, have, want)
			}
			found += len(want)
		}
	}
	if found == 0 {
		t.Fatal("no turn has a word")
	}
}

// TestAnnounces checks that what the model only announces is no outcome.
func TestAnnounces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Now I have full context. Let me design the plan.":        true,
		"Good, let’s run the tests:":                              true,
		"I'll look at it.":                                        true,
		"All tests pass. Let me know if you want more.":           false,
		"The parser is mended.":                                   false,
		"Let me explain: the lock was never released. It is now.": false,
	} {
		if got := announces(text); got != want {
			t.Errorf("announces(%q) = %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]bool{"commit": true, "comit": true, "Commit and push": true, "please create a PR": true,
		"commit the parser only after the tests of the price list pass": false, "fix the push notifications": false} {
		if got := housekeeping().MatchString(text); got != want {
			t.Errorf("housekeeping(%q) = %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"Updated changelog entry:\n\n```\n- Rounding is exact\n```":                 "Updated changelog entry: ``` - Rounding is exact ```",
		"All pass. Here's a summary of the changes in `a/b.go`:\n\n- Round half up": "All pass.\n…\n• Round half up",
	} {
		if got := Gist(text, 400); got != want {
			t.Errorf("Gist(%q) = %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"Three (all new, distinct ones vs. old ones that are kept)": "Three (all new, distinct ones …",
		"another few cases: 1. the user stops it":                   "another few cases: 1. the user …",
		"In manual_commit.go:37.. when a partial state is there":    "In manual_commit.go:37.. when a …",
	} {
		if got := Cut(text, 36); got != want {
			t.Errorf("Cut(%q) = %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"All pass. … To answer … … the constant is 7 now. … end": "All pass. … the constant is 7 now. … end",
		"Merged.\nThe README says: …":                            "Merged.",
		"It has:\n• … - from #93\n• a: … b":                      "It has:\n• … - from #93\n• a: … b",
		"asked “Which rig? …” chose: ":                           "asked “Which rig? …” chose: ",
		"Rebased onto main: … All of the tests pass.":            "Rebased onto main: … All of the tests pass.",
	} {
		if got := joinGaps(text); got != want {
			t.Errorf("joinGaps(%q) = %q, want %q", text, got, want)
		}
	}
}
