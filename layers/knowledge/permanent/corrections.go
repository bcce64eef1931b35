package permanent

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/knowledge/facts"
)

// minCorrections is the number of conversations in which the user corrects the model in the same way before that is
// proposed as a rule.
const minCorrections = 3

// corrects matches a sentence in which the user corrects what the model did.
var corrects = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:please|ok|well|hm+|but|and)[,.]?\s+)*(?:` + strings.Join([]string{
		`no[,.!]?\s`, `nope\b`, `(?:please )?(?:don['’]?t|do not|stop|never)\s`, `not like that`, `i (?:said|told you|meant|asked)\b`,
		`you (?:(?:just )?should(?: just)?|should ?n['’]?t|must(?: not|n['’]?t)?|forgot)\b`, `again[,!]\s`, `use \S.*\b(?:instead|not)\b`,
		`instead[, ]`, `that['’]?s (?:wrong|not)\b`, `.*(?:지\s*마|말고)`, `.*(?:じゃなくて|ではなく|しないで|やめて)`, `(?:不要|别|別|不是|不对|不對)`,
	}, "|") + `)`)
})

// Corrections returns the sentences of a message in which the user corrects the model. The caller must pass only text
// that the user typed.
func Corrections(message string) (out []string) {
	if len(message) > maxStated {
		return nil
	}
	for _, s := range sentences(message) {
		if s.canBeRule() && corrects().MatchString(s.ownText) {
			out = append(out, s.text)
		}
	}
	return out
}

// fromCorrections proposes what the user corrected in the same way in several conversations.
func (f *finder) fromCorrections() {
	type set struct {
		words  []string
		quotes []Quote
	}
	var sets []*set
next:
	for _, q := range f.Corrections {
		w := facts.Terms(q.Text)
		for _, s := range sets {
			if similar(s.words, w) {
				s.quotes = append(s.quotes, q)
				continue next
			}
		}
		if len(w) > 1 {
			sets = append(sets, &set{w, []Quote{q}})
		}
	}
	for _, s := range sets {
		c := Candidate{ID: candidateID(CandidateCorrection, squash(s.quotes[0].Text)), Kind: CandidateCorrection, Type: TypeRule,
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
