package facts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/answers"
)

// An Input is the input of "mem facts save", usually written by a model: exchanges of a session, and answers about saved
// facts.
type Input struct {
	Session   string           `json:"session,omitempty" form:"human" about:"the session; needed if the command does not name it"`
	Through   int              `json:"through,omitempty" form:"human" about:"the last message that was read, also if no fact is about it"`
	Exchanges []InputExchange  `json:"exchanges,omitempty" form:"items=2000" about:"requests of the user with their results"`
	Answers   []answers.Answer `json:"answers,omitempty" form:"items=1000" about:"one for each sentence that was asked about"`
}

// An InputExchange is an exchange of an [Input]. At most one of Messages and L1Range is set; without both, the evidence
// of the facts determines the messages.
type InputExchange struct {
	Messages [2]int      `json:"messages,omitzero" form:"pair,min=1" about:"numbers of its first and last message"`
	L1Range  [2]int      `json:"l1_range,omitzero" form:"pair,min=1,human" about:"instead of messages: first and last line of L1"`
	Summary  string      `json:"summary,omitempty" form:"max=1000" about:"the request and its result in one sentence"`
	Details  string      `json:"details,omitempty" form:"max=4000" about:"what was found and done, if it matters"`
	Topic    string      `json:"topic,omitempty" about:"3 to 5 words"`
	Concept  string      `json:"concept,omitempty" about:"the job that it belongs to: the label of a known one, such as c001, or a name for a new one"`
	Keywords []string    `json:"keywords,omitempty" about:"words to find it by"`
	Files    []string    `json:"files,omitempty" about:"files that were read or changed"`
	Facts    []InputFact `json:"facts" form:"required,items=1000"`
}

// An InputFact is a fact of an [Input]. The text is one sentence or two, not a report.
type InputFact struct {
	ID         string     `json:"id,omitempty" about:"a name such as a1, by which other facts of this answer can name it"`
	Kind       Kind       `json:"kind" form:"required" enum:"request,action,decision,issue,solution,preference" about:"request: what the user asked for; action: what was done; decision: what was decided, and why; issue: what is wrong; solution: what fixed it; preference: how the user wants things"`
	Text       string     `json:"text" form:"required,max=1000" about:"one sentence that can be understood alone"`
	Reason     string     `json:"reason,omitempty" form:"max=1000" about:"why it was decided, if that was said"`
	Evidence   []Evidence `json:"evidence" form:"required,items=20" about:"the quotes that say it"`
	Keywords   []string   `json:"keywords,omitempty" about:"words to find it by"`
	Files      []string   `json:"files,omitempty" about:"files it is about"`
	Supersedes []string   `json:"supersedes,omitempty" about:"ids (f:..., or of this answer) of facts that it replaces"`
	Refutes    []string   `json:"refutes,omitempty" about:"ids (f:..., or of this answer) of facts that it disproves"`
	Resolves   []string   `json:"resolves,omitempty" about:"ids (f:..., or of this answer) of facts that it resolves: issues"`
}

// maxText is the length of the text of a fact.
const maxText = 1000

// Schema is the JSON schema of the input of [Decode].
func Schema() json.RawMessage {
	return answers.Schema[Input]("facts of a session: the input of \"mem facts save\"")
}

// Decode parses an input with [answers.Decode], checks what a form cannot say, and brings the texts into their form.
func Decode(b []byte) (Input, error) {
	g, err := answers.Decode[Input](b)
	if err != nil {
		return Input{}, err
	}
	var c answers.Problems
	g.Session = strings.TrimSpace(g.Session)
	for i := range g.Exchanges {
		x, at := &g.Exchanges[i], fmt.Sprintf("exchanges[%d]", i)
		if x.Messages != [2]int{} && x.L1Range != [2]int{} {
			c.Add(at+".l1_range", "messages already determines the part of the session")
		}
		if s := x.Messages; s[0] > s[1] {
			c.Add(at+".messages", "%d is after %d", s[0], s[1])
		}
		if s := x.L1Range; s[0] > s[1] {
			c.Add(at+".l1_range", "%d is after %d", s[0], s[1])
		}
		x.Summary, x.Topic, x.Details, x.Concept = filled(x.Summary), filled(x.Topic), filled(x.Details), filled(x.Concept)
		x.Keywords, x.Files = filledList(x.Keywords), filledList(x.Files)
		for k := range x.Facts {
			f := &x.Facts[k]
			f.ID, f.Kind = strings.TrimSpace(f.ID), Kind(strings.TrimSpace(string(f.Kind)))
			f.Text, f.Reason = oneSpace(f.Text), filled(f.Reason)
			for _, list := range []*[]string{&f.Keywords, &f.Files, &f.Supersedes, &f.Refutes, &f.Resolves} {
				*list = filledList(*list)
			}
			if len(f.Evidence) == 0 {
				c.Add(fmt.Sprintf("%s.facts[%d].evidence", at, k), "it is empty: a fact needs a quote")
			}
			for n := range f.Evidence {
				f.Evidence[n].Quote = strings.TrimSpace(f.Evidence[n].Quote)
			}
		}
	}
	answers.CheckAnswers(g.Answers, "answers", &c)
	if g.Exchanges == nil && g.Answers == nil {
		c.Add("exchanges", "missing: want a list")
	}
	if err := c.Err(); err != nil {
		return Input{}, err
	}
	return g, nil
}

// filled returns a text on one line, "" if it is what the form of a draft has in its place.
func filled(s string) string {
	if s = oneSpace(s); s == "..." || s == "f:..." || s == "3 to 5 words" || s == "c001 or a name" {
		return ""
	}
	return s
}

// filledList returns the filled texts of a list, each once.
func filledList(list []string) (out []string) {
	for _, s := range list {
		if s = filled(s); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
