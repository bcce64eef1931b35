package facts

import (
	"fmt"

	"github.com/memvcs/mem/layers/forms"
	"github.com/memvcs/mem/layers/tokens"
)

// The answers to the question whether the messages of a session support a fact or a summary.
const (
	Supported    = "supported"
	Partly       = "partly" // the text of the answer says what they support
	NotSupported = "not"
)

// An Answer is what a reader says about a fact or the summary of an exchange.
type Answer struct {
	ID     string `json:"id" form:"required"` // of the fact or exchange
	Answer string `json:"answer" form:"required" enum:"supported,partly,not"`
	Text   string `json:"text,omitempty" form:"max=1000"` // for Partly: the better wording
	Why    string `json:"why,omitempty" form:"max=4000"`
}

// Answers is the input of [DecodeAnswers].
type Answers struct {
	Answers []Answer `json:"answers" form:"required,items=1000"`
}

// DecodeAnswers parses answers, each about another fact or exchange that is known. The error is an [*forms.Error] that
// names the fields.
func DecodeAnswers(b []byte, known func(id string) bool) ([]Answer, error) {
	v, err := forms.Decode[Answers](b)
	if err != nil {
		return nil, err
	}
	var c forms.Problems
	seen := map[string]bool{}
	for i := range v.Answers {
		a, at := &v.Answers[i], fmt.Sprintf("answers[%d].", i)
		a.Text, a.Why = oneSpace(a.Text), tokens.Shorten(oneSpace(a.Why), maxText)
		switch {
		case !known(a.ID):
			c.Add(at+"id", "no question is about `%s`", forms.Printable(a.ID))
		case seen[a.ID]:
			c.Add(at+"id", "%s is answered twice", a.ID)
		case a.Answer == Partly && a.Text == "":
			c.Add(at+"text", "missing: say what the messages support")
		}
		seen[a.ID] = true
	}
	return v.Answers, c.Err()
}
