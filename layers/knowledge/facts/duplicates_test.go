package facts

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestComparisonKey(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"The parser loses the last line.", "parser still loses the last line", true},
		{"`cart.Total` is wrong!", "The cart.Total was wrong", true},
		{"The parser loses the last line.", "The parser loses the first line.", false},
		{"The parser fails.", "The parser does not fail.", false},
		{"The server is up", "The server is down", false},
		{"It takes 3.5 s", "It takes 35 s", false},
		{"A calls B", "B calls A", false},
		{"파서가 마지막 줄을 잃는다", "파서가 마지막 줄을 잃는다.", true},
	} {
		if got := comparisonKey(test.a) == comparisonKey(test.b); got != test.same {
			t.Errorf("comparisonKey(%q) == comparisonKey(%q) is %t, want %t", test.a, test.b, got, test.same)
		}
	}
	list := []Fact{{ID: "1", Kind: Issue, Text: "It leaks."}, {ID: "2", Kind: Issue, Text: "it leaks"}, {ID: "3", Kind: Decision, Text: "it leaks"}}
	if got := Distinct(list); len(got) != 2 || got[0].ID != "1" || got[1].ID != "3" || len(list) != 3 {
		t.Errorf("Distinct = %v", got)
	}
}

// TestResolveDuplicates: what resolves one statement of an issue resolves the others that are not younger, unless they are judged on their own.
func TestResolveDuplicates(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	var records []Record
	add := func(kind, device string, body any) {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, Record{Kind: kind, Device: device, Body: b})
	}
	state := func(device, session string, kind Kind, text string, when time.Time, trust Trust) Fact {
		f := Fact{Session: session, Kind: kind, Text: text, Verdict: Verified, Trust: trust, Evidence: []Evidence{{Message: 1, Quote: "x"}}, Time: when}
		add(KindExchange, device, Exchange{Session: session, From: 1, To: 2, Facts: []Fact{f}}.Bare())
		return f
	}
	open := func() string {
		s, err := Fold(records)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for f := range s.All() {
			if f.Open() {
				out = append(out, f.Session)
			}
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	first := state("a", "s1", Issue, "It leaks.", day(1), User)
	state("a", "s2", Issue, "it leaks", day(2), Assistant)
	own := state("a", "s3", Issue, "It leaks!", day(2), Assistant)
	state("a", "s4", Issue, "It is slow.", day(2), Assistant)
	state("a", "s5", Issue, "It leaks.", day(9), Assistant)
	solution := state("a", "s6", Solution, "It is closed now.", day(5), Assistant)
	add(KindJudgement, "a", Judgement{Fact: own.Key(), Says: Resolves, Value: false})
	if got := open(); got != "s1 s2 s3 s4 s5" {
		t.Fatalf("open at first: %s", got)
	}
	add(KindJudgement, "a", Judgement{Fact: first.Key(), Says: Resolves, Value: true, By: solution.Key()})
	if got := open(); got != "s3 s4 s5" {
		t.Errorf("open after the solution: %s, want s3, which somebody opened, s4, which is another, and s5, which came later", got)
	}
	// An issue that is saved later, but was met before the solution, is closed too.
	state("a", "s7", Issue, "It leaks", day(3), Assistant)
	if got := open(); got != "s3 s4 s5" {
		t.Errorf("open after an old one was saved: %s", got)
	}
	s, err := Fold(records)
	if err != nil {
		t.Fatal(err)
	}
	for f := range s.All() {
		if f.Resolved && (f.Resolution != "It is closed now." || f.ResolvedBy != solution.Name()) {
			t.Errorf("%s: resolved by %s: %q", f.Session, f.ResolvedBy, f.Resolution)
		}
	}
	// What a tool printed solves nothing that the user or the model said.
	slow := state("t", "s8", Issue, "It is slow", day(1), Tool)
	tool := state("t", "s8", Solution, "It is fast now.", day(8), Tool)
	add(KindJudgement, "t", Judgement{Fact: slow.Key(), Says: Resolves, Value: true, By: tool.Key()})
	if got := open(); got != "s3 s4 s5" {
		t.Errorf("open after the word of a tool: %s", got)
	}
	state("t", "s9", Solution, "It is fast now, really.", day(8), User)
	add(KindJudgement, "t", Judgement{Fact: slow.Key(), Says: Resolves, Value: true, Reason: "it  is fast"})
	if got := open(); got != "s3 s5" {
		t.Errorf("open after the word of the user: %s", got)
	}
}

// TestUndoRevoked: a solution that is hidden has solved nothing.
func TestUndoRevoked(t *testing.T) {
	t.Parallel()
	s, err := Fold(statements(t))
	if err != nil {
		t.Fatal(err)
	}
	var by string
	for f := range s.All() {
		if f.SupersededBy != "" {
			by = f.SupersededBy
		}
	}
	at := s.where[by]
	s.Exchanges[at[0]].Facts[at[1]].Revoked = "wrong"
	s.UndoRevoked()
	for f := range s.All() {
		if f.SupersededBy == by {
			t.Errorf("%s is superseded by %s, which is hidden", f.ID, by)
		}
	}
	if by == "" {
		t.Error("nothing is superseded")
	}
}
