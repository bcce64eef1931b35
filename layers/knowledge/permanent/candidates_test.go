package permanent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/knowledge/facts"
)

// alone makes each session a conversation of its own.
func alone(session string) string { return session }

func found(t *testing.T, in Input) string {
	t.Helper()
	if in.Rules == nil {
		in.Rules = fold(t, in.Facts)
	}
	if in.Now.IsZero() {
		in.Now = day
	}
	if in.Family == nil {
		in.Family = alone
	}
	var out []string
	for _, c := range Candidates(in) {
		s := fmt.Sprintf("%s %s %s: %s", c.Kind, c.Trust, strings.Join(c.Sessions, ","), c.Text)
		if c.Problem != "" {
			s += " <- " + c.Problem
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	in := Input{Facts: factsOf(t), Family: func(s string) string { return s[:1] }, Quotes: []Quote{ // s1 and s2 are one conversation
		{Session: "a1", Message: 3, Text: "Always sign commits."}, {Session: "a2", Message: 3, Text: "always sign commits"},
		{Session: "b", Message: 9, Text: "Always sign commits"}, {Session: "b", Message: 9, Text: "Never push on Fridays."},
	}}
	if got, want := found(t, in), "stated user a1,b: Always sign commits.\nstated user b: Never push on Fridays."; got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
}

// TestCandidatesOfRules looks for rules whose evidence fell, and for rules that nothing speaks of.
func TestCandidatesOfRules(t *testing.T) {
	t.Parallel()
	known := factsOf(t, "a user decision Use tabs in Go files", "b user decision Never use tabs in Go files", "c assistant decision Deploy on Fridays from the main branch")
	key := keys(known)
	old := record(t, 1, "d", Kind, Definition{Type: TypeRule, Text: "Deploy on Fridays", Evidence: key[2:], State: Active, Trust: facts.User})
	old.Time = day.AddDate(0, -9, 0)
	tabs := record(t, 2, "d", Kind, Definition{Type: TypeRule, Text: "Use tabs in Go files", Evidence: key[:1], State: Active, Trust: facts.User, ByUser: true})
	tabs.Time = day.AddDate(0, 0, -10)
	in := Input{Facts: known, Rules: fold(t, known, old, tabs)}
	if got := found(t, in); got != "" {
		t.Errorf("nothing speaks against a rule, but there is %s", got)
	}
	known.Exchanges[0].Facts[0].SupersededBy = "f:1"
	want := "contradiction user a: Use tabs in Go files"
	if got := found(t, in); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	in.Now = day.AddDate(0, 6, 0)
	want += "\nstale assistant : Deploy on Fridays\nstale user : Use tabs in Go files"
	if got := found(t, in); got != want {
		t.Errorf("half a year later:\n%s\nwant\n%s", got, want)
	}
	in.Now = day.AddDate(0, 5, 0)
	in.Rules = fold(t, known, old, tabs, record(t, 3, "d", KindAct, Act{Rule: tabs.ID, Act: Contradict, Evidence: key[0]}), record(t, 4, "d", KindAct, Act{Rule: old.ID, Act: Retire}))
	if got := found(t, in); got != "" {
		t.Errorf("counted and retired, but there is %s", got)
	}
}

// TestSettled dismisses and promotes candidates: they are shown no more. What says the opposite settles nothing.
func TestSettled(t *testing.T) {
	t.Parallel()
	known := factsOf(t)
	said := Quote{Session: "a", Message: 1, Text: "Never push on Fridays."}
	in := Input{Facts: known, Rules: fold(t, known), Quotes: []Quote{said}, Now: day, Family: alone}
	c := Candidates(in)
	if len(c) != 1 {
		t.Fatal(c)
	}
	made := record(t, 1, "d", Kind, Definition{Type: TypeRule, Text: "Fridays are for rest", Candidate: c[0].ID, State: Active})
	for what, tt := range map[string]struct {
		records []facts.Record
		settled bool
	}{
		"dismissed": {[]facts.Record{record(t, 1, "d", KindAct, Act{Rule: c[0].ID, Act: Dismiss})}, true},
		"promoted":  {[]facts.Record{made}, true},
		"retired":   {[]facts.Record{made, record(t, 2, "d", KindAct, Act{Rule: made.ID, Act: Retire})}, true},
		"said":      {[]facts.Record{record(t, 1, "d", Kind, Definition{Type: TypeRule, Text: "never push on fridays", State: Active})}, true},
		"quoted":    {[]facts.Record{record(t, 1, "d", Kind, Definition{Type: TypeRule, Text: "Rest", Quotes: []Quote{said}, State: Active})}, true},
		"opposite":  {[]facts.Record{record(t, 1, "d", Kind, Definition{Type: TypeRule, Text: "Push on Fridays", State: Active, ByUser: true})}, false},
	} {
		in.Rules = fold(t, known, tt.records...)
		if got := found(t, in); (got == "") != tt.settled {
			t.Errorf("%s: %q, want settled: %t", what, got, tt.settled)
		}
	}
}

// TestBasis: a rule in other words than its facts is no word of the user.
func TestBasis(t *testing.T) {
	t.Parallel()
	list := factsOf(t, "a user decision Use tabs", "b assistant decision Use tabs", "c tool decision Use tabs").Live()
	for _, tt := range []struct {
		text    string
		of      []facts.Fact
		trust   facts.Trust
		derived bool
	}{
		{"use tabs.", list[:1], facts.User, false}, {"Use tabs", list[:2], facts.Assistant, false}, {"Use tabs", list, facts.Tool, false},
		{"Indent with tabs", list[:1], facts.Assistant, true}, {"Indent with tabs", nil, facts.Assistant, true},
	} {
		if trust, derived := Basis(tt.text, tt.of); trust != tt.trust || derived != tt.derived {
			t.Errorf("Basis(%q, %d facts) = %s, %t", tt.text, len(tt.of), trust, derived)
		}
	}
}
