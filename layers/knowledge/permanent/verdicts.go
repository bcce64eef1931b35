package permanent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/answers"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/tokens"
)

// A Verdict is a model's answer about a candidate. It is not trusted: [Decide] decides.
type Verdict struct {
	Candidate string `json:"candidate" form:"required"`
	Verdict   string `json:"verdict" form:"required" enum:"promote,dismiss,contradict,review,leave"`
	Type      string `json:"type" enum:",rule,solution,core_logic"` // empty keeps the candidate's type
	Reason    string `json:"reason" form:"max=4000"`
}

// Leave is the verdict that leaves the decision to somebody else.
const Leave = "leave"

// A Pattern is a rule that a model sees behind several facts, or an existing rule that they contradict. It is not
// trusted: [FromPattern] looks its evidence up.
type Pattern struct {
	Text        string   `json:"text" form:"max=500"`
	Type        string   `json:"type" enum:"rule,solution,core_logic"`
	Problem     string   `json:"problem" form:"max=500"`
	Contradicts string   `json:"contradicts"`                // id of the rule, instead of a text
	Evidence    []string `json:"evidence" form:"items=1000"` // ids of facts
	Reason      string   `json:"reason" form:"max=4000"`
}

// An Answer is a model's answer about candidates, with the rules that it sees itself.
type Answer struct {
	Verdicts []Verdict `json:"verdicts" form:"required"`
	Rules    []Pattern `json:"rules"`
}

// maxReason is the length of a reason that is stored, in characters.
const maxReason = 500

// DecodeVerdicts parses verdicts on the candidates in asked. Each verdict must name one of them, and no two the same.
// The error is a [*answers.Error] that names the wrong fields.
func DecodeVerdicts(b []byte, asked []Candidate) (Answer, error) {
	v, err := answers.Decode[Answer](b)
	if err != nil {
		return v, err
	}
	var bad answers.Problems
	seen := map[string]bool{}
	for i := range v.Verdicts {
		x := &v.Verdicts[i]
		switch known := func(c Candidate) bool { return c.ID == x.Candidate }; {
		case !slices.ContainsFunc(asked, known):
			bad.Add(fmt.Sprintf("verdicts[%d].candidate", i), "there is no %q", x.Candidate)
		case seen[x.Candidate]:
			bad.Add(fmt.Sprintf("verdicts[%d].candidate", i), "%s is named twice", x.Candidate)
		}
		seen[x.Candidate], x.Reason = true, tokens.Shorten(visible(x.Reason), maxReason)
	}
	for i := range v.Rules {
		p := &v.Rules[i]
		p.Text, p.Problem = visible(p.Text), visible(p.Problem)
		p.Reason = tokens.Shorten(visible(p.Reason), maxReason)
		if p.Type = cmp.Or(p.Type, TypeRule); p.Text == "" && p.Contradicts == "" {
			bad.Add(fmt.Sprintf("rules[%d].text", i), "it is empty")
		}
	}
	return v, bad.Err()
}

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
	w := Outcome{Candidate: Candidate{ID: cmp.Or(p.Contradicts, tokens.Shorten(p.Text, 40)), Rule: p.Contradicts}}
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
	if n, need := len(in.independentSessions(list)), minSessions(p.Type); n < need {
		return nil, fmt.Errorf("its evidence is from %d sessions, and %d are needed", n, need)
	}
	if bad := answers.Missing(p.Text+"\n"+p.Problem, said); len(bad) > 0 {
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
