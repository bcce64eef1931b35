package permanent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/claims"
	"github.com/memvcs/mem/layers/facts"
)

// A Verdict is what somebody who is not the user says of a candidate. Nothing is believed of it: [Weigh] decides.
type Verdict struct {
	Candidate string `json:"candidate"`
	Says      string `json:"verdict"`
	Text      string `json:"text"` // of the rule in better words; empty leaves those of the candidate
	Type      string `json:"type"` // empty leaves that of the candidate
	Reason    string `json:"reason"`
}

// Leave is what a verdict can say beside [Promote], [Dismiss], [Contradict] and [Question]: that somebody else
// shall decide.
const Leave = "leave"

// Says returns what verdicts can say.
func Says() []string { return []string{Promote, Dismiss, Contradict, Question, Leave} }

// VerdictSchema is the JSON schema of what [DecodeVerdicts] reads.
const VerdictSchema = `{"type":"object","properties":{"verdicts":{"type":"array","items":{"type":"object","properties":{` +
	`"candidate":{"type":"string"},"verdict":{"type":"string","enum":["promote","dismiss","contradict","review","leave"]},"text":{"type":"string"},` +
	`"type":{"type":"string","enum":["","rule","solution","core_logic"]},"reason":{"type":"string"}},` +
	`"required":["candidate","verdict","text","type","reason"],"additionalProperties":false}}},"required":["verdicts"],"additionalProperties":false}`

// Limits of a verdict, in characters.
const (
	maxRuleText = 500
	maxReason   = 500
)

// DecodeVerdicts reads verdicts on candidates. Each candidate must be one of those that were asked about, and
// named once; the error names the field that is wrong.
func DecodeVerdicts(b []byte, asked []Candidate) ([]Verdict, error) {
	var v struct {
		Verdicts []Verdict `json:"verdicts"`
	}
	dec := json.NewDecoder(bytes.NewReader(facts.Unfence(b)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("verdicts: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("verdicts: something follows the JSON object")
	}
	seen := map[string]bool{}
	for i := range v.Verdicts {
		if err := v.Verdicts[i].check(asked, seen); err != nil {
			return nil, fmt.Errorf("verdicts[%d].%w", i, err)
		}
	}
	return v.Verdicts, nil
}

func (v *Verdict) check(asked []Candidate, seen map[string]bool) error {
	switch {
	case !slices.ContainsFunc(asked, func(c Candidate) bool { return c.ID == v.Candidate }):
		return fmt.Errorf("candidate: there is no %q", v.Candidate)
	case seen[v.Candidate]:
		return fmt.Errorf("candidate: %s is named twice", v.Candidate)
	case !slices.Contains(Says(), v.Says):
		return fmt.Errorf("verdict: %q is none of %s", v.Says, strings.Join(Says(), ", "))
	case v.Type != "" && !slices.Contains(Types(), v.Type):
		return fmt.Errorf("type: %q is none of %s", v.Type, strings.Join(Types(), ", "))
	case utf8.RuneCountInString(v.Text) > maxRuleText:
		return fmt.Errorf("text: longer than %d characters", maxRuleText)
	}
	seen[v.Candidate] = true
	v.Text, v.Reason = plainLine(v.Text), plainLine(v.Reason)
	if r := []rune(v.Reason); len(r) > maxReason {
		v.Reason = string(r[:maxReason])
	}
	return nil
}

// plainLine is s in one line, without characters that cannot be seen.
func plainLine(s string) string { return visible([]rune(s)) }

// A Weighed is what becomes of a verdict: a rule, an act, or nothing, and then why.
type Weighed struct {
	Candidate Candidate
	Rule      *Made
	Act       *Act
	Left      string // why nothing becomes of it
}

// Weigh decides what becomes of a verdict that was given where no user is. It may promote what is established,
// in words that its evidence bears, but such a rule holds at once only if all of the evidence is what the user
// said; else it is proposed, until somebody promotes it. It may dismiss what the user did not ask for, count a
// contradiction, and ask for a rule to be looked at; it ends none.
func Weigh(c Candidate, v Verdict, made Made, known *facts.Set) Weighed {
	w := Weighed{Candidate: c}
	switch {
	case v.Says == Promote && c.Rule == "":
		return w.promoted(v, made, known)
	case v.Says == Dismiss && c.Rule == "" && c.Stated:
		w.Left = "the user asked for it in so many words: only they, or a session with them, dismiss it"
	case v.Says == Dismiss && c.Rule == "":
		w.Act = &Act{Rule: c.ID, Act: Dismiss, Reason: v.Reason}
	case v.Says == Contradict && c.Kind == WasContrary && c.Trust < facts.Assistant:
		w.Left = "only tools, files, the web or scripts say so: it speaks against no rule"
	case v.Says == Contradict && c.Kind == WasContrary:
		w.Act = &Act{Act: Contradict, Evidence: c.keys[0], Reason: v.Reason}
	case v.Says == Question && c.Rule != "":
		w.Act = &Act{Act: Question, Reason: v.Reason}
	case v.Says == Leave:
		w.Left = v.Reason
	default:
		w.Left = fmt.Sprintf("a candidate of the kind %s cannot be answered with %s", c.Kind, v.Says)
	}
	return w
}

// promoted makes the rule of a candidate, if its evidence bears the words.
func (w Weighed) promoted(v Verdict, made Made, known *facts.Set) Weighed {
	c := w.Candidate
	if v.Text != "" && v.Text != made.Text && !c.Stated { // what the user stated stays in their words
		established := Established(c, known)
		if !Bears(established, v.Text) {
			w.Left = "its evidence does not support " + v.Text
			return w
		}
		if bad := claims.Missing(v.Text, strings.Join(established, "\n")); len(bad) > 0 {
			w.Left = fmt.Sprintf("its evidence does not hold `%s`", strings.Join(bad, "`, `"))
			return w
		}
		if more := Added(established, v.Text); c.Trust == facts.User && len(more) > 0 {
			w.Left = fmt.Sprintf("the user did not say `%s`", strings.Join(more, "`, `"))
			return w
		}
		made.Text = v.Text
	}
	if v.Type != "" {
		made.Type = v.Type
	}
	if v.Reason != "" {
		made.Reason = v.Reason
	}
	made.ByUser, made.Trust, made.State = false, c.Trust, Proposed
	if c.Trust == facts.User {
		made.State = Active
	}
	w.Rule = &made
	return w
}

// Established returns the texts that a candidate rests on: its own, the user's words and those of the facts
// that are its evidence.
func Established(c Candidate, known *facts.Set) []string {
	out := []string{c.Text}
	if c.Problem != "" {
		out = append(out, c.Problem)
	}
	for _, w := range c.Words {
		out = append(out, w.Quote)
	}
	for _, id := range c.Evidence {
		if f, ok := known.Fact(id); ok {
			out = append(out, f.Text)
		}
	}
	return out
}
