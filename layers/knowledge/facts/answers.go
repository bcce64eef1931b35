package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects/strictjson"
)

// The answers to the question whether the messages of a session support a fact or a summary.
const (
	Supported    = "supported"
	Partly       = "partly" // the text of the answer says what they support
	NotSupported = "not"
)

// An Answer is what a reader says about a fact or the summary of an exchange.
type Answer struct {
	ID     string `json:"id"` // of the fact or exchange
	Answer string `json:"answer"`
	Text   string `json:"text,omitempty"` // for Partly: the better wording
	Why    string `json:"why,omitempty"`
}

// AnswersSchema is the JSON schema of the input of [DecodeAnswers].
const AnswersSchema = `{"type":"object","properties":{"answers":{"type":"array","items":{"type":"object","properties":{` +
	`"id":{"type":"string"},"answer":{"type":"string","enum":["supported","partly","not"]},"text":{"type":"string"},` +
	`"why":{"type":"string"}},"required":["id","answer","text","why"],"additionalProperties":false}}},` +
	`"required":["answers"],"additionalProperties":false}`

// DecodeAnswers parses answers, each about another fact or exchange that is known. The error is an [*InputError] that
// names the fields.
func DecodeAnswers(b []byte, known func(id string) bool) ([]Answer, error) {
	var v struct {
		Answers []Answer `json:"answers"`
	}
	if err := strictjson.Decode(strictjson.Unfence(b), &v); err != nil {
		return nil, &InputError{[]string{err.Error()}}
	}
	var problems []string
	seen := map[string]bool{}
	for i := range v.Answers {
		a := &v.Answers[i]
		a.Text, a.Why = oneSpace(a.Text), Truncate(oneSpace(a.Why), maxText)
		if why := a.problem(known, seen); why != "" {
			problems = append(problems, fmt.Sprintf("answers[%d].%s", i, why))
		}
		seen[a.ID] = true
	}
	if len(problems) > 0 {
		return nil, &InputError{problems}
	}
	return v.Answers, nil
}

// problem returns what is wrong with an answer, with the field.
func (a Answer) problem(known func(id string) bool, seen map[string]bool) string {
	switch {
	case !known(a.ID):
		return fmt.Sprintf("id: no question is about `%s`", Truncate(printable(a.ID), 40))
	case seen[a.ID]:
		return "id: " + a.ID + " is answered twice"
	case !slices.Contains([]string{Supported, Partly, NotSupported}, a.Answer):
		return fmt.Sprintf("answer: `%s` is none of supported, partly and not", Truncate(printable(a.Answer), 20))
	case a.Answer == Partly && a.Text == "":
		return "text: missing: say what the messages support"
	case len([]rune(a.Text)) > maxText:
		return fmt.Sprintf("text: longer than %d characters", maxText)
	case strings.ContainsFunc(a.Text+a.Why, isHidden):
		return "text: it contains control characters"
	}
	return ""
}
