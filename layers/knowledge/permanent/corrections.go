package permanent

import (
	"fmt"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/requests"
)

// minCorrections is the number of conversations in which the user corrects the model in the same way before that is
// proposed as a rule.
const minCorrections = 3

// fromCorrections proposes what the user corrected in the same way in several conversations.
func (f *finder) fromCorrections() {
	type set struct {
		words  []string
		quotes []Quote
	}
	var sets []*set
next:
	for _, q := range f.Corrections {
		w := requests.Terms(q.Text)
		for _, s := range sets {
			if requests.Similar(s.words, w) {
				s.quotes = append(s.quotes, q)
				continue next
			}
		}
		if len(w) > 1 {
			sets = append(sets, &set{w, []Quote{q}})
		}
	}
	for _, s := range sets {
		c := Candidate{ID: candidateID(CandidateCorrection, requests.Letters(s.quotes[0].Text)), Kind: CandidateCorrection, Type: TypeRule,
			Trust: facts.User, Files: []string{}, Evidence: []string{}, Sessions: []string{}, Text: s.quotes[0].Text}
		for _, q := range s.quotes {
			if !q.Time.Before(c.Newest) {
				c.Text = q.Text
			}
			f.quoted(&c, q)
		}
		if c.Why = fmt.Sprintf("corrected in %d sessions", len(c.Sessions)); len(c.Sessions) >= minCorrections {
			f.out = append(f.out, c)
		}
	}
}
