package permanent

import (
	"cmp"
	"errors"
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
	Type      string `json:"type"` // empty keeps the candidate's type
	Reason    string `json:"reason"`
}

// Leave is the verdict that leaves the decision to somebody else.
const Leave = "leave"

func verdictNames() []string { return []string{Promote, Dismiss, Contradict, Question, Leave} }

// A Pattern is a rule that a model sees behind several facts, or an existing rule that they contradict. It is not
// trusted: [FromPattern] looks its evidence up.
type Pattern struct {
	Text        string   `json:"text"`
	Type        string   `json:"type"`
	Problem     string   `json:"problem"`
	Contradicts string   `json:"contradicts"` // id of the rule, instead of a text
	Evidence    []string `json:"evidence"`    // ids of facts
	Reason      string   `json:"reason"`
}

// An Answer is a model's answer about candidates, with the rules that it sees itself.
type Answer struct {
	Verdicts []Verdict `json:"verdicts"`
	Rules    []Pattern `json:"rules"`
}

// VerdictSchema is the JSON schema of the input of [DecodeVerdicts].
const VerdictSchema = `{"type":"object","properties":{"verdicts":{"type":"array","items":{"type":"object","properties":{` +
	`"candidate":{"type":"string"},"verdict":{"type":"string","enum":["promote","dismiss","contradict","review","leave"]},` +
	`"type":{"type":"string","enum":["","rule","solution","core_logic"]},"reason":{"type":"string"}},` +
	`"required":["candidate","verdict","type","reason"],"additionalProperties":false}},` +
	`"rules":{"type":"array","items":{"type":"object","properties":{` +
	`"text":{"type":"string"},"type":{"type":"string","enum":["rule","solution","core_logic"]},"problem":{"type":"string"},` +
	`"contradicts":{"type":"string"},"evidence":{"type":"array","items":{"type":"string"}},"reason":{"type":"string"}},` +
	`"required":["text","type","problem","contradicts","evidence","reason"],"additionalProperties":false}}},` +
	`"required":["verdicts","rules"],"additionalProperties":false}`

// Limits of an answer, in characters.
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
		case p.Text == "" && p.Contradicts == "" || utf8.RuneCountInString(p.Text+p.Problem+p.Reason) > maxRuleText+2*maxReason:
			return Answer{}, fmt.Errorf("rules[%d].text: want 1 to %d characters", i, maxRuleText)
		case !slices.Contains(Types(), p.Type):
			return Answer{}, fmt.Errorf("rules[%d].type: %q is none of %s", i, p.Type, strings.Join(Types(), ", "))
		}
	}
	return v, nil
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
	}
	seen[v.Candidate] = true
	v.Reason = plainLine(v.Reason)
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

// Decide returns the outcome of a verdict that was given without the user. A verdict can promote what the user said, in
// the user's words. It can dismiss what the user did not ask for, count a contradiction, and request a review of a rule.
// It cannot end a rule.
func Decide(c Candidate, v Verdict, made Definition) Outcome {
	w := Outcome{Candidate: c}
	switch {
	case v.Verdict == Promote && c.Rule == "":
		made.Type, made.Reason = cmp.Or(v.Type, made.Type), cmp.Or(v.Reason, made.Reason)
		made.ByUser, made.Trust, made.State = false, c.Trust, Active
		w.Rule = &made
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

// FromPattern returns the outcome of a pattern: a derived rule that waits for somebody who promotes it, or a
// contradiction of an existing one.
func FromPattern(in Input, p Pattern) Outcome {
	w := Outcome{Candidate: Candidate{ID: cmp.Or(p.Contradicts, facts.Truncate(p.Text, 40)), Rule: p.Contradicts}}
	list, said, err := in.evidence(p.Evidence)
	if err == nil && p.Contradicts != "" {
		w.Act, err = in.contradicted(p, list)
	} else if err == nil {
		w.Rule, err = in.derived(p, list, said)
	}
	if err != nil {
		w.NotApplied = err.Error()
	}
	return w
}

// evidence returns the facts with the ids, and what they and their quotes say.
func (in Input) evidence(ids []string) (list []facts.Fact, said string, err error) {
	for _, id := range ids {
		x, ok := in.Facts.Fact(id)
		if !ok || !x.Live() || x.Trust < facts.Assistant {
			return nil, "", fmt.Errorf("%s is no evidence", id)
		}
		list, said = append(list, x), said+x.Text+"\n"
		for _, e := range x.Evidence {
			said += e.Quote + "\n"
		}
	}
	return list, said, nil
}

func (in Input) contradicted(p Pattern, list []facts.Fact) (*Act, error) {
	found := in.Rules.Find(p.Contradicts)
	switch {
	case len(found) != 1 || !found[0].InForce():
		return nil, fmt.Errorf("there is no rule %s in force", p.Contradicts)
	case len(list) == 0:
		return nil, errors.New("no fact speaks against it")
	case found[0].counted[list[0].Key().String()]:
		return nil, errors.New("the contradiction is known")
	}
	return &Act{Rule: found[0].Record, Act: Contradict, Evidence: list[0].Key().String(), Reason: p.Reason}, nil
}

func (in Input) derived(p Pattern, list []facts.Fact, said string) (*Definition, error) {
	need := minDecisions
	if p.Type == TypeSolution {
		need = minSolutions
	}
	if in.Family == nil {
		in.Family = func(session string) string { return session }
	}
	if n := len((&finder{Input: in}).independentSessions(list)); n < need {
		return nil, fmt.Errorf("its evidence is from %d sessions, and %d are needed", n, need)
	}
	if bad := claims.Missing(p.Text+"\n"+p.Problem, said); len(bad) > 0 {
		return nil, fmt.Errorf("its evidence does not contain `%s`", strings.Join(bad, "`, `"))
	}
	made := &Definition{Type: p.Type, Text: p.Text, Problem: p.Problem, Derived: true, Trust: facts.Assistant, Confidence: 70,
		State: Proposed, Reason: p.Reason}
	for _, x := range list {
		made.Evidence, made.Trust = append(made.Evidence, x.Key().String()), min(made.Trust, wordTrust(x))
		for _, file := range x.Files {
			if !slices.Contains(made.Files, file) {
				made.Files = append(made.Files, file)
			}
		}
	}
	return made, nil
}
