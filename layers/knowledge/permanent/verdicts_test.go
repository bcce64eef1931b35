package permanent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/knowledge/facts"
)

// TestDecide weighs what somebody who is not the user says of candidates.
func TestDecide(t *testing.T) {
	t.Parallel()
	corrected := Candidate{ID: "p:1", Kind: CandidateCorrection, Type: TypeRule, Text: "Don't mock it", Trust: facts.User, Quotes: []Quote{{Session: "a", Message: 1, Text: "Don't mock it"}}}
	stated := Candidate{ID: "p:2", Kind: CandidateStated, Type: TypeRule, Text: "Always run the tests", Stated: true, Trust: facts.User, Quotes: []Quote{{Session: "a", Message: 1, Text: "Always run the tests"}}}
	contrary := Candidate{ID: "p:3", Kind: CandidateContradiction, Rule: "r:12345678", Trust: facts.Assistant, keys: []string{"k"}}
	contraryTool := contrary
	contraryTool.Trust = facts.Tool
	stale := Candidate{ID: "p:4", Kind: CandidateStale, Rule: "r:12345678"}
	for _, tt := range []struct {
		what string
		c    Candidate
		says string
		want string
	}{
		{"the user's words", stated, Promote, "rule active user: Always run the tests"},
		{"a correction", corrected, Promote, "rule active user: Don't mock it"},
		{"nobody else dismisses what they asked for", stated, Dismiss, "left"},
		{"dismissed", corrected, Dismiss, "act dismiss p:1"},
		{"a rule cannot be dismissed", stale, Dismiss, "left"},
		{"a rule cannot be promoted", contrary, Promote, "left"},
		{"contradicted", contrary, Contradict, "act contradict  k"},
		{"by tools alone", contraryTool, Contradict, "left"},
		{"by nothing", stale, Contradict, "left"},
		{"to be looked at", stale, Question, "act review "},
		{"nothing to look at", corrected, Question, "left"},
		{"left", corrected, Leave, ""},
		{"retired", stale, Retire, "left"},
	} {
		made := Definition{Type: tt.c.Type, Text: tt.c.Text, Evidence: tt.c.keys, Quotes: tt.c.Quotes, Trust: tt.c.Trust, State: Active, Candidate: tt.c.ID}
		given := Verdict{Candidate: tt.c.ID, Verdict: tt.says}
		w := Decide(tt.c, given, made)
		got := ""
		switch {
		case w.Rule != nil:
			got = fmt.Sprintf("rule %s %s: %s", w.Rule.State, w.Rule.Trust, w.Rule.Text)
		case w.Act != nil:
			got = strings.TrimSuffix(fmt.Sprintf("act %s %s %s", w.Act.Act, w.Act.Rule, w.Act.Evidence), " ")
		case w.NotApplied != "":
			got = "left"
		}
		if got != tt.want {
			t.Errorf("%s: Decide = %q (%s), want %q", tt.what, got, w.NotApplied, tt.want)
		}
	}
}

// TestDecodeVerdicts says which field is wrong.
func TestDecodeVerdicts(t *testing.T) {
	t.Parallel()
	asked := []Candidate{{ID: "p:1"}, {ID: "p:2"}}
	one := func(candidate, says, kind string) string {
		return fmt.Sprintf(`{"candidate":%q,"verdict":%q,"type":%q,"reason":"r"}`, candidate, says, kind)
	}
	for _, tt := range []struct{ in, want string }{
		{`{"verdicts":[]}`, ""},
		{"```json\n{\"verdicts\":[" + one("p:1", Promote, "") + "]}\n```", ""},
		{`{"verdicts":[` + one("p:1", Leave, "") + `,` + one("p:2", Leave, TypeCoreLogic) + `]}`, ""},
		{`{"verdicts":[` + one("p:3", Leave, "") + `]}`, `verdicts[0].candidate: there is no "p:3"`},
		{`{"verdicts":[` + one("p:1", Leave, "") + `,` + one("p:1", Leave, "") + `]}`, "verdicts[1].candidate: p:1 is named twice"},
		{`{"verdicts":[` + one("p:1", Retire, "") + `]}`, "verdicts[0].verdict: "},
		{`{"verdicts":[` + one("p:1", Leave, "law") + `]}`, "verdicts[0].type: "},
		{`{"verdicts":[{"id":"p:1"}]}`, `verdicts[0].id: unknown field`},
		{`{"verdicts":[]} and more`, "something follows"},
		{`[`, "the input ends"},
	} {
		_, err := DecodeVerdicts([]byte(tt.in), asked)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
			t.Errorf("DecodeVerdicts(%s) = %v, want %q", tt.in, err, tt.want)
		}
	}
}

// FuzzVerdicts gives DecodeVerdicts, Decide and FromPattern anything: what becomes a rule that holds is what the user said.
func FuzzVerdicts(f *testing.F) {
	f.Add([]byte(`{"verdicts":[{"candidate":"p:1","verdict":"promote","type":"","reason":""}]}`))
	f.Add([]byte(`{"verdicts":[{"candidate":"p:1","verdict":"dismiss","type":"rule","reason":"\u202e"}],"rules":[{"text":"x\u202e","type":"rule","problem":"","contradicts":"","evidence":["f:1"],"reason":""}]}`))
	known := factsOf(f, "a user decision Use tabs in Go files")
	c := Candidate{ID: "p:1", Kind: CandidateCorrection, Type: TypeRule, Text: "Use tabs in Go files", Trust: facts.User}
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := DecodeVerdicts(b, []Candidate{c})
		if err != nil {
			return
		}
		for _, v := range list.Verdicts {
			if w := Decide(c, v, Definition{Type: c.Type, Text: c.Text, Trust: c.Trust}); w.Rule != nil && (w.Rule.ByUser || w.Rule.Text != c.Text) {
				t.Errorf("%s made %+v", b, w.Rule)
			}
		}
		for _, p := range list.Rules {
			w := FromPattern(Input{Facts: known, Rules: &Set{}}, p)
			if w.Rule != nil && (w.Rule.State != Proposed || w.Rule.Trust > facts.Assistant || strings.ContainsAny(w.Rule.Text, "\n\u202e")) {
				t.Errorf("%s made %+v", b, w.Rule)
			}
		}
	})
}
