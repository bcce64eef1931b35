package permanent

import (
	"testing"
	"time"

	"github.com/memvcs/mem/layers/knowledge/facts"
)

// TestRepeatedCorrections: the same correction in three conversations is a candidate; a copy of a session does not count.
func TestRepeatedCorrections(t *testing.T) {
	t.Parallel()
	at := func(session string, n int, text string) Quote {
		return Quote{Session: session, Message: n, Text: text, Time: day.AddDate(0, 0, n)}
	}
	set := &facts.Set{}
	in := Input{Facts: set, Rules: fold(t, set), Now: day, Corrections: []Quote{
		at("a", 1, "Don't use testify in tests"), at("b", 2, "do not use testify in the tests"), at("a2", 3, "don't use testify in tests, again"),
		at("b", 4, "use testify in tests instead"),
	}, Family: func(s string) string { return s[:1] }}
	if got := Candidates(in); len(got) != 0 {
		t.Errorf("two conversations: %+v", got)
	}
	in.Corrections = append(in.Corrections, at("c", 5, "please don't use testify in tests"))
	got := Candidates(in)
	if len(got) != 1 || got[0].Kind != CandidateCorrection || len(got[0].Sessions) != 3 || got[0].Stated || got[0].Trust != facts.User ||
		got[0].Text != "please don't use testify in tests" {
		t.Errorf("three conversations: %+v", got)
	}
}

// TestFromPattern: a rule behind facts needs their sessions, their names and their trust, and only waits.
func TestFromPattern(t *testing.T) {
	t.Parallel()
	known := factsOf(t, "a user decision Use tabs in main.go", "b user decision Tabs in parse.go", "c assistant decision Tabs are used in lex.go", "d tool decision Tabs everywhere")
	var ids []string
	for _, f := range known.Live() {
		ids = append(ids, f.ID)
	}
	for _, test := range []struct {
		text string
		ids  []string
		why  string
	}{
		{"Go files are indented with tabs.", ids[:3], ""},
		{"Go files are indented with tabs.", ids[:2], "its evidence is from 2 sessions, and 3 are needed"},
		{"gofmt_strict indents with tabs.", ids[:3], "its evidence does not contain `gofmt_strict`"},
		{"Go files are indented with tabs.", ids, ids[3] + " is no evidence"},
		{"Go files are indented with tabs.", append([]string{"f:00000000"}, ids...), "f:00000000 is no evidence"},
	} {
		w := FromPattern(Input{Facts: known, Family: alone, Now: time.Time{}}, Pattern{Text: test.text, Type: TypeRule, Evidence: test.ids})
		why, made := w.NotApplied, w.Rule
		if why != test.why || why == "" && (made.State != Proposed || !made.Derived || made.Trust != facts.Assistant || len(made.Evidence) != 3) {
			t.Errorf("%q of %d facts: %q, %+v, want %q", test.text, len(test.ids), why, made, test.why)
		}
	}
}

// TestContradicted: a fact that speaks against a rule counts once, against a rule in force.
func TestContradicted(t *testing.T) {
	t.Parallel()
	known := factsOf(t, "a user decision Use spaces in main.go")
	rule := record(t, 1, "d", Kind, Definition{Type: TypeRule, Text: "Use tabs", State: Active, ByUser: true})
	id := known.Live()[0].ID
	in := Input{Facts: known, Rules: fold(t, known, rule)}
	r := in.Rules.Rules[0].ID
	w := FromPattern(in, Pattern{Contradicts: r, Type: TypeRule, Evidence: []string{id}})
	if w.Act == nil || w.Act.Rule != rule.ID || w.Act.Act != Contradict || w.Act.Evidence != keys(known)[0] {
		t.Fatalf("%+v", w)
	}
	in.Rules = fold(t, known, rule, record(t, 2, "d", KindAct, *w.Act))
	for what, p := range map[string]Pattern{
		"the contradiction is known":       {Contradicts: r, Evidence: []string{id}},
		"no fact speaks against it":        {Contradicts: r},
		"there is no rule r:ffff in force": {Contradicts: "r:ffff", Evidence: []string{id}},
	} {
		if w := FromPattern(in, p); w.NotApplied != what {
			t.Errorf("%+v, want %s", w, what)
		}
	}
}
