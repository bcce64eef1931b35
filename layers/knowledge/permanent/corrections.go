package permanent

import (
	"fmt"
	"slices"
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
	var sets []set
	for _, q := range f.Corrections {
		w := Terms(q.Text)
		i := slices.IndexFunc(sets, func(s set) bool { return similar(s.words, w) })
		switch {
		case i >= 0:
			sets[i].quotes = append(sets[i].quotes, q)
		case len(w) > 1:
			sets = append(sets, set{w, []Quote{q}})
		}
	}
	for _, s := range sets {
		c := newCandidate(CandidateCorrection, s.quotes[0].Text, letters(s.quotes[0].Text))
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
