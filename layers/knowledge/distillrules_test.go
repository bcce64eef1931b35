package knowledge

import (
	"testing"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
)

// TestDecideOnce promotes two candidates with the same text, in two requests: they give one rule.
func TestDecideOnce(t *testing.T) {
	t.Parallel()
	w := ruleDistiller{in: permanent.Input{Facts: &facts.Set{}, Rules: &permanent.Set{}}}
	for _, id := range []string{"p:00000001", "p:00000002"} {
		w.decide([]permanent.Candidate{{ID: id, Text: "Prices are whole cents.", Stated: true, Trust: facts.User}},
			permanent.Answer{Verdicts: []permanent.Verdict{{Candidate: id, Verdict: permanent.Promote}}})
	}
	if n := len(w.outcomes); n != 2 || w.outcomes[0].Rule == nil || w.outcomes[1].Rule != nil ||
		w.outcomes[1].NotApplied != "another candidate says the same" {
		t.Errorf("outcomes: %+v", w.outcomes)
	}
}
