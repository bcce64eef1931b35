package exchange

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/refine"
)

// TestPending checks what a session leaves open.
func TestPending(t *testing.T) {
	t.Parallel()
	user := func(said string) refine.Entry { return refine.Entry{Role: "user", Said: said} }
	says := func(said string) refine.Entry { return refine.Entry{Role: "assistant", Said: said} }
	tool := func(name, target, result string) refine.Entry {
		return refine.Entry{Role: "tool", Name: name, Target: target, Result: result}
	}
	plan := func(said, result string) refine.Entry {
		return refine.Entry{Role: "tool", Name: "ExitPlanMode", Said: said, Result: result}
	}
	stop := refine.Entry{Role: "note", Said: "[Request interrupted by user]"}
	reason := refine.Entry{Role: "user", Name: "refusal", Said: "no floats", Target: "Edit sum.go"}
	side := tool("TodoWrite", "pending: of an agent", "ok")
	side.Side = true
	for _, x := range []struct {
		name string
		all  []refine.Entry
		want string
	}{
		{"nothing", []refine.Entry{user("add a test"), says("Done.")}, ""},
		{"stopped", []refine.Entry{user("add a test"), stop}, "1 request add a test"},
		{"went on", []refine.Entry{user("add a test"), stop, says("I go on.")}, ""},
		{"next request", []refine.Entry{user("add a test"), stop, user("no, two"), says("Done.")}, ""},
		{"ends with a question", []refine.Entry{user("hi"), says("I see two ways. Shall I take *this* one?**")},
			"2 asked Shall I take *this* one?"},
		{"question answered", []refine.Entry{user("hi"), says("Shall I?"), user("yes"), says("Done.")}, ""},
		{"plan that a file has, too", []refine.Entry{user("plan it"), {Role: "tool", Name: "Write", Target: "/p/plans/x.md", Diff: "+# Prices", Result: "ok"},
			plan("# Prices", "refused by the user")}, "3 plan Prices"},
		{"dialog", []refine.Entry{user("hi"), tool("AskUserQuestion", "Cents?", "")}, "2 question Cents?"},
		{"dialog escaped", []refine.Entry{user("hi"), tool("AskUserQuestion", "Cents?", "refused by the user"), user("cents"),
			says("Ok.")}, ""},
		{"plan refused", []refine.Entry{user("plan"), plan("# Use Redis\n1. x", "refused by the user: no services")},
			"2 plan Use Redis (no services)"},
		{"plan refused, then accepted", []refine.Entry{user("plan"), plan("# Redis", "refused by the user"), plan("# Memory", "ok")},
			"3 accepted Memory"},
		{"call refused", []refine.Entry{user("round"), tool("Edit", "sum.go", "refused by the user"), reason},
			"2 refused Edit sum.go (no floats)"},
		{"call refused in silence", []refine.Entry{user("round"), tool("Edit", "sum.go", "refused by the user")}, ""},
		{"todos", []refine.Entry{user("work"), tool("TodoWrite", "pending: a\nin_progress: b\npending: c", "ok"),
			tool("TodoWrite", "completed: a", "ok")}, "2 todo b*, 2 todo c"},
		{"a new list", []refine.Entry{user("work"), tool("TodoWrite", "pending: a\npending: b", "ok"),
			tool("TodoWrite", "pending: c\npending: d", "ok")}, "3 todo c, 3 todo d"},
		{"a todo in other words", []refine.Entry{user("work"), tool("TodoWrite", "pending: a\npending: b", "ok"),
			tool("TodoWrite", "completed: b\npending: the a\ndropped: a", "ok")}, "3 todo the a"},
		{"tasks", []refine.Entry{user("work"), tool("TaskCreate", "a", "ok"), tool("TaskCreate", "a", "ok"),
			tool("TaskUpdate", "#1 completed", "ok")}, "3 todo a"},
		{"of an agent", []refine.Entry{user("work"), side}, ""},
	} {
		var p Pending
		for i, e := range x.all {
			e.N = i + 1
			p.Add(&e)
		}
		var got []string
		for _, o := range p.List() {
			s := fmt.Sprintf("%d %s %s", o.N, o.Kind, o.Text)
			if o.Started {
				s += "*"
			}
			if o.Reason != "" {
				s += " (" + o.Reason + ")"
			}
			got = append(got, s)
			if o.Lead() == "" {
				t.Errorf("%s has no lead", o.Kind)
			}
		}
		if s := strings.Join(got, ", "); s != x.want {
			t.Errorf("%s: got %q, want %q", x.name, s, x.want)
		}
	}
}

// TestAsks has ends of texts of the model: an offer to help is no question that is open.
func TestAsks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"It rounds. Shall I log it?":                               true,
		"It rounds. **Ready to commit?**":                          true,
		"Which of the two do you want?":                            true,
		"How can I reproduce the wrong price?":                     true,
		"What would you like to do with the old cents?":            true,
		"Should I change something else than the parser?":          true,
		"日本語で書きますか？":                                               true,
		"It rounds.":                                               false,
		"Hi! How can I help you today?":                            false,
		"It rounds. Anything else?":                                false,
		"You're welcome! Is there anything else you'd like to do?": false,
		"It rounds. What would you like to work on next?":          false,
		"It rounds. So what's next?":                               false,
		"Hallo! Wie kann ich helfen?":                              false,
	} {
		if got := Asks(text); got != want {
			t.Errorf("Asks(%q) = %v, want %v", text, got, want)
		}
	}
}
