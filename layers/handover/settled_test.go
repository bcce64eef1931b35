package handover

import (
	"testing"

	"github.com/memvcs/mem/layers/knowledge/facts"
)

// TestSettle holds that a digest repeats no sentence that is no longer true, and no wish that was superseded.
func TestSettle(t *testing.T) {
	t.Parallel()
	quote := func(s string) []facts.Evidence { return []facts.Evidence{{Message: 2, Quote: s}} }
	known := &facts.Set{Exchanges: []facts.Exchange{{Facts: []facts.Fact{
		{Session: "s", Kind: facts.Decision, Evidence: quote("We **store it** in `MySQL`"), SupersededBy: "f:2", Verdict: facts.Quoted},
		{Session: "s", Kind: facts.Decision, Evidence: quote("The port is 8080"), SupersededBy: "f:3", Verdict: facts.Quoted},
		{Session: "s", Kind: facts.Decision, Evidence: quote("The port is 8080"), Verdict: facts.Verified}, // only reworded
		{Session: "s", Kind: facts.Issue, Evidence: quote("yes"), Resolved: true, Verdict: facts.Quoted},
	}}}}
	digests := []Digest{
		{Session: "s", Wants: []Want{{Said: Said{Text: "We store it in  MySQL, please."}}, {Said: Said{Text: "Say yes."}}},
			Turns: []Turn{{Answered: Said{N: 2, Text: "Done. We store it in MySQL now. The port is 8080, yes."}},
				{Answered: Said{N: 4, Text: "We store it in MySQL."}}}},
		{Session: "other", Turns: []Turn{{Answered: Said{N: 2, Text: "We store it in MySQL."}}}},
	}
	settle(digests, toldOf(known))
	for i, want := range []string{"Done. The port is 8080, yes.", ""} {
		if got := digests[0].Turns[i]; got.Answered.Text != want || got.Settled != "what was settled since by f:2" {
			t.Errorf("turn %d: %+v, want %q", i, got, want)
		}
	}
	if w := digests[0].Wants; len(w) != 1 || w[0].Text != "Say yes." {
		t.Errorf("wants: %v", w)
	}
	if got := digests[1].Turns[0]; got.Settled != "" || got.Answered.Text == "" {
		t.Errorf("another session: %+v", got)
	}
}
