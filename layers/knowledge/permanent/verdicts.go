package permanent

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/knowledge/claims"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/objects/strictjson"
)

// A Verdict is a model's answer about a candidate. It is not trusted: [Decide] decides.
type Verdict struct {
	Candidate string `json:"candidate"`
	Verdict   string `json:"verdict"`
	Text      string `json:"text"` // a better wording of the rule; empty keeps the candidate's text
	Type      string `json:"type"` // empty keeps the candidate's type
	Reason    string `json:"reason"`
}

// Leave is the verdict that leaves the decision to somebody else.
const Leave = "leave"

func verdictNames() []string { return []string{Promote, Dismiss, Contradict, Question, Leave} }

// VerdictSchema is the JSON schema of the input of [DecodeVerdicts].
const VerdictSchema = `{"type":"object","properties":{"verdicts":{"type":"array","items":{"type":"object","properties":{` +
	`"candidate":{"type":"string"},"verdict":{"type":"string","enum":["promote","dismiss","contradict","review","leave"]},"text":{"type":"string"},` +
	`"type":{"type":"string","enum":["","rule","solution","core_logic"]},"reason":{"type":"string"}},` +
	`"required":["candidate","verdict","text","type","reason"],"additionalProperties":false}},"rules":{"type":"array","items":{"type":"object","properties":{` +
	`"text":{"type":"string"},"type":{"type":"string","enum":["rule","solution","core_logic"]},"problem":{"type":"string"},"evidence":{"type":"array","items":{"type":"string"}},` +
	`"reason":{"type":"string"}},"required":["text","type","problem","evidence","reason"],"additionalProperties":false}}},"required":["verdicts","rules"],"additionalProperties":false}`

// A Pattern is a rule that a model sees behind several facts. It is not trusted: [FromPattern] looks its evidence up.
type Pattern struct {
	Text     string   `json:"text"`
	Type     string   `json:"type"`
	Problem  string   `json:"problem"`
	Evidence []string `json:"evidence"` // ids of facts
	Reason   string   `json:"reason"`
}

// FromPattern returns the rule that a pattern proposes, or why it proposes none. The rule is derived, and waits for
// somebody who promotes it.
func FromPattern(in Input, p Pattern) (Definition, string) {
	if in.Family == nil {
		in.Family = func(session string) string { return session }
	}
	f := &finder{Input: in}
	var list []facts.Fact
	var said []string
	for _, id := range p.Evidence {
		x, ok := in.Facts.Fact(id)
		if !ok || !x.Live() || x.Trust < facts.Assistant {
			return Definition{}, fmt.Sprintf("%s is no evidence", id)
		}
		list, said = append(list, x), append(said, x.Text)
		for _, e := range x.Evidence {
			said = append(said, e.Quote)
		}
	}
	need := minDecisions
	if p.Type == TypeSolution {
		need = minSolutions
	}
	if n := len(f.independentSessions(list)); n < need {
		return Definition{}, fmt.Sprintf("its evidence is from %d sessions, and %d are needed", n, need)
	}
	if bad := claims.Missing(p.Text+"\n"+p.Problem, strings.Join(said, "\n")); len(bad) > 0 {
		return Definition{}, fmt.Sprintf("its evidence does not contain `%s`", strings.Join(bad, "`, `"))
	}
	f.add(Candidate{}, unique(list))
	c := f.out[0]
	return Definition{Type: p.Type, Text: p.Text, Problem: p.Problem, Files: c.Files, Evidence: c.keys, Derived: true,
		Trust: min(c.Trust, facts.Assistant), Confidence: 70, State: Proposed, Reason: p.Reason}, ""
}

// Limits of a verdict, in characters.
const (
	maxRuleText = 500
	maxReason   = 500
)

// DecodeVerdicts parses verdicts on the candidates in asked. Each verdict must name one of them, and no two the same.
// The error names the wrong field.
func DecodeVerdicts(b []byte, asked []Candidate) (Answer, error) {
	var v Answer
	if err := strictjson.Decode(strictjson.Unfence(b), &v); err != nil {
		return v, fmt.Errorf("verdicts: %w", err)
	}
	seen := map[string]bool{}
	for i := range v.Verdicts {
		if err := v.Verdicts[i].check(asked, seen); err != nil {
			return Answer{}, fmt.Errorf("verdicts[%d].%w", i, err)
		}
	}
	for i := range v.Rules {
		p := &v.Rules[i]
		p.Text, p.Problem, p.Reason = plainLine(p.Text), plainLine(p.Problem), plainLine(p.Reason)
		switch {
		case p.Text == "" || utf8.RuneCountInString(p.Text+p.Problem+p.Reason) > maxRuleText+2*maxReason:
			return Answer{}, fmt.Errorf("rules[%d].text: want 1 to %d characters", i, maxRuleText)
		case !slices.Contains(Types(), p.Type):
			return Answer{}, fmt.Errorf("rules[%d].type: %q is none of %s", i, p.Type, strings.Join(Types(), ", "))
		}
	}
	return v, nil
}

// An Answer is a model's answer about candidates, with the rules that it sees itself.
type Answer struct {
	Verdicts []Verdict `json:"verdicts"`
	Rules    []Pattern `json:"rules"`
}

func (v *Verdict) check(asked []Candidate, seen map[string]bool) error {
	switch {
	case !slices.ContainsFunc(asked, func(c Candidate) bool { return c.ID == v.Candidate }):
		return fmt.Errorf("candidate: there is no %q", v.Candidate)
	case seen[v.Candidate]:
		return fmt.Errorf("candidate: %s is named twice", v.Candidate)
	case !slices.Contains(verdictNames(), v.Verdict):
		return fmt.Errorf("verdict: %q is none of %s", v.Verdict, strings.Join(verdictNames(), ", "))
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

// plainLine returns s in one line, without invisible characters.
func plainLine(s string) string { return visible([]rune(s)) }

// An Outcome is the result of a verdict: a new rule, an act, or neither, with the reason in NotApplied.
type Outcome struct {
	Candidate  Candidate
	Rule       *Definition
	Act        *Act
	NotApplied string
}

// Decide returns the outcome of a verdict that was given without the user. A verdict can promote what is established,
// in words that its evidence supports; the rule is active at once only if the user said all of the evidence, otherwise
// it is proposed. It can dismiss what the user did not ask for, count a contradiction, and request a review of a rule.
// It cannot end a rule.
func Decide(c Candidate, v Verdict, made Definition, known *facts.Set) Outcome {
	w := Outcome{Candidate: c}
	switch {
	case v.Verdict == Promote && c.Rule == "":
		return w.promote(v, made, known)
	case v.Verdict == Dismiss && c.Rule == "" && c.Stated:
		w.NotApplied = "the user asked for it explicitly: only the user, or a session with the user, can dismiss it"
	case v.Verdict == Dismiss && c.Rule == "":
		w.Act = &Act{Rule: c.ID, Act: Dismiss, Reason: v.Reason}
	case v.Verdict == Contradict && c.Kind == CandidateContradiction && c.Trust < facts.Assistant:
		w.NotApplied = "only tools, files, the web or scripts say so: not evidence against a rule"
	case v.Verdict == Contradict && c.Kind == CandidateContradiction:
		w.Act = &Act{Act: Contradict, Evidence: c.keys[0], Reason: v.Reason}
	case v.Verdict == Question && c.Rule != "":
		w.Act = &Act{Act: Question, Reason: v.Reason}
	case v.Verdict == Leave:
		w.NotApplied = v.Reason
	default:
		w.NotApplied = fmt.Sprintf("a candidate of the kind %s cannot be answered with %s", c.Kind, v.Verdict)
	}
	return w
}

// promote returns the outcome with the rule of a candidate, if the evidence supports its words.
func (w Outcome) promote(v Verdict, made Definition, known *facts.Set) Outcome {
	c := w.Candidate
	if v.Text != "" && v.Text != made.Text && !c.Stated { // a rule that the user stated keeps its words
		established := Established(c, known)
		if !Supports(established, v.Text) {
			w.NotApplied = "its evidence does not support " + v.Text
			return w
		}
		if bad := claims.Missing(v.Text, strings.Join(established, "\n")); len(bad) > 0 {
			w.NotApplied = fmt.Sprintf("its evidence does not contain `%s`", strings.Join(bad, "`, `"))
			return w
		}
		if more := AddedWords(established, v.Text); c.Trust == facts.User && len(more) > 0 {
			w.NotApplied = fmt.Sprintf("the user did not say `%s`", strings.Join(more, "`, `"))
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

// Established returns the texts that support a candidate: its own, the user's quotes and the facts in its evidence.
func Established(c Candidate, known *facts.Set) []string {
	out := []string{c.Text}
	if c.Problem != "" {
		out = append(out, c.Problem)
	}
	for _, w := range c.Quotes {
		out = append(out, w.Text)
	}
	for _, id := range c.Evidence {
		if f, ok := known.Fact(id); ok {
			out = append(out, f.Text)
		}
	}
	return out
}
