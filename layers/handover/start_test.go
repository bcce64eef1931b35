package handover

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/refine"
)

// TestStands shows the last exchanges that did something, and a last prompt without an answer.
func TestStands(t *testing.T) {
	t.Parallel()
	user := func(s string) refine.Entry { return refine.Entry{Role: "user", Said: s} }
	model := refine.Entry{Role: "assistant", Said: "The parser rounds."}
	for _, c := range []struct {
		name    string
		entries []refine.Entry
		want    string
	}{
		{"a prompt without an answer", []refine.Entry{user("Mend the price parser"), model, user("Are you sure?")},
			"Asked last: “Are you sure?” / Ended before an answer. / Asked before: “Mend the price parser” / Outcome: “The parser rounds.”"},
		{"a greeting", []refine.Entry{user("Mend the price parser"), model, user("hi")},
			"Asked last: “Mend the price parser” / Outcome: “The parser rounds.”"},
		{"thanks and their answer", []refine.Entry{user("Mend the price parser"), model, user("thanks"), {N: 4, Role: "assistant", Said: "You are welcome."}},
			"Asked last: “Mend the price parser” / Outcome: “The parser rounds.”"},
		{"praise and its answer", []refine.Entry{user("Mend the price parser"), model, user("Great, thank you so much!"), {N: 4, Role: "assistant", Said: "You are welcome."}},
			"Asked last: “Mend the price parser” / Outcome: “The parser rounds.”"},
		{"a short request", []refine.Entry{user("Mend the price parser"), model, user("ship it"), {N: 4, Role: "assistant", Said: "Shipped."}},
			"Asked last: “ship it” / Outcome: “Shipped.” / Asked before: “Mend the price parser” / Outcome: “The parser rounds.”"},
		{"an answer to a question", []refine.Entry{user("Mend the price parser"), {Role: "assistant", Said: "There are two of them. Shall I mend both?"}, user("yes"), bash("make", "ok"), model},
			"Answered last: “yes” to “There are two of them. Shall I mend both?” / Outcome: “The parser rounds.” / " +
				"Asked before: “Mend the price parser” / Outcome: “There are two of them. …”"},
		{"requests between", slices.Concat([]refine.Entry{user("Mend the price parser"), bash("make", "ok"), bash("make", "ok"), model}, []refine.Entry{user("name it"), model, user("log it"), model, user("what is left?"), model, user("test it"), model}),
			"Asked last: “test it” / Outcome: “The parser rounds.” / Asked before: “what is left?” / Outcome: “The parser rounds.” / " +
				"Asked before (2 requests between): “Mend the price parser” / Outcome: “The parser rounds.”"},
		{"a choice in a dialog", []refine.Entry{user("Mend the price parser"), {Role: "assistant", Said: "There are two parsers in the shop."},
			{Role: "user", Name: "answer", Said: "The old one", Dialog: []refine.Answer{{Question: "Which of them?", Answer: "The old one"}}}, bash("make", "ok"), model},
			"Asked last: “Mend the price parser” / Then answered “The old one” to “Which of them?” / Outcome: “The parser rounds.”"},
		{"a refusal, and nothing after it", []refine.Entry{user("Mend the price parser"), {Role: "assistant", Said: "There are two parsers in the shop."}, {Role: "tool", Name: "Edit", Target: "a.go", Result: "refused by the user"},
			{Role: "user", Name: "refusal", Target: "Edit a.go", Said: "the other one"}},
			"Asked last: “Mend the price parser” / Then refused Edit: “the other one” / Ended before an answer."},
		{"a plan that was changed", []refine.Entry{user("Mend the price parser"), {Role: "tool", Name: "ExitPlanMode", Said: "# Mills", Result: "refused by the user"},
			{Role: "user", Name: "refusal", Target: "ExitPlanMode", Said: "two steps, please"}, {Role: "tool", Name: "ExitPlanMode", Said: "# Mills", Result: "ok"}, bash("make", "ok"), model},
			"Asked last: “Mend the price parser” / Then asked for a change of the plan, and then accepted it: “two steps, please” / Outcome: “The parser rounds.”"},
		{"an announcement alone", []refine.Entry{user("Mend the price parser"), {Role: "assistant", Said: "I'll sync the document once plan mode exits."}},
			"Asked last: “Mend the price parser” / No answer; the last words were: “I'll sync the document once plan mode exits.”"},
		{"an announcement with what it announces", []refine.Entry{user("How is it called?"), {Role: "assistant", Said: "Let me show you:\n```\nprice 12.5\n```"}},
			"Asked last: “How is it called?” / Outcome: “Let me show you: ``` price 12.5 ```”"},
		{"a remark before work", []refine.Entry{user("Mend the price parser"), {Role: "assistant", Said: "The constants are there. Let me look at the rest:"}, bash("make", "ok"), user("Use mills"), bash("make", "ok"), model},
			"Asked last: “Use mills” / Outcome: “The parser rounds.” / Asked before: “Mend the price parser” / No answer before the next request; the last words were: “The constants are there.”"},
		{"a guess before its change", []refine.Entry{user("Mend the price parser"), bash("make", "ok"), {Role: "assistant", Said: "I see! It rounds twice.\n\nThe fix is to round once:"}, user("the shop rounds as well")},
			"Asked last: “the shop rounds as well” / Ended before an answer. / Asked before: “Mend the price parser” / " +
				"No answer before the next request; the last words were: “I see! It rounds twice.”"},
		{"a task behind an introduction", []refine.Entry{user("I have put the logos of the three shops into assets/logos . " + strings.Repeat("Show them in the list of the shops, please, ", 3) + "and on the page of each shop, too, with their names."), bash("make", "ok"), model},
			"Asked last: “I have put the logos of the three shops into assets/logos . Show them in the list of the shops, please, Show them in the list of the shops, please, …” / Outcome: “The parser rounds.”"},
		{"a pasted log", []refine.Entry{user("$ make\n" + strings.Repeat("[12:00:01] start of another step\n", 20) + "Error: no rule for x\n[12:00:02] end"), bash("make", "ok"), model},
			"Asked last: “(23 pasted lines: Error: no rule for x)” / Outcome: “The parser rounds.”"},
		{"a command of the client that starts work", []refine.Entry{{Role: "note", Name: "command", Said: "/mend the price parser"}, bash("make", "ok"), model},
			"Asked last: “/mend the price parser” / Outcome: “The parser rounds.”"},
		{"a command of the client that starts none", []refine.Entry{{Role: "note", Name: "command", Said: "/plan mend it"}, user("Mend the price parser"), bash("make", "ok"), model},
			"Asked last: “Mend the price parser” / Outcome: “The parser rounds.”"},
		{"a call that the user refused without a word", []refine.Entry{user("Mend the price parser"), bash("make", "ok"), model, {Role: "tool", Name: "Bash", Cmd: "git push", Result: "refused by the user"}, user("log it"), bash("make", "ok"), model},
			"Asked last: “log it” / Outcome: “The parser rounds.” / Asked before: “Mend the price parser” / No answer before the next request; the last words were: “The parser rounds.”"},
		{"a headless run", []refine.Entry{{Role: "user", Script: true, Said: "deploy to eu-west-1"}, bash("make", "ok"), model},
			"Asked last: (a headless run) / Outcome: “The parser rounds.”"},
	} {
		var got []string
		for _, it := range stands(summarized(t, c.entries...), atStart[0]) {
			got = append(got, it.Text)
		}
		if s := strings.Join(got, " / "); s != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, s, c.want)
		}
	}
}

// TestSaid says that checks pass: only such checks are said to pass.
func TestSaid(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"All green.":                               "",
		"All 4 places updated, 1309 tests pass.":   "bun run lint",
		"The lint is clean.":                       "bun run test",
		"All unit tests pass.":                     "bun run lint bun run test",
		"The icons are green now.":                 "bun run lint bun run test",
		"1309 tests pass, lint clean.":             "",
		"I fixed some lint errors, others remain.": "bun run lint bun run test",
		"All tests should pass once it is merged.": "bun run lint bun run test",
	} {
		d := summarized(t, refine.Entry{Role: "user", Said: "go"}, bash("bun run lint", "Exit code 1"),
			bash("bun run test", "Exit code 1"), refine.Entry{Role: "assistant", Said: said})
		var failed []string
		for _, c := range d.Commands {
			if c.broken() {
				failed = append(failed, c.Name)
			}
		}
		if got := strings.Join(failed, " "); got != want {
			t.Errorf("after %q failed %q, want %q", said, got, want)
		}
	}
}

func TestMends(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		broken, fix string
		want        bool
	}{
		{"rtk bun run test", "bun run test", true},
		{"rtk bun run test", "bun run lint", false},
		{"npm run tset", "npm run test", true},
		{"npm run tests", "npm run test", true},
		{"npm run deploy", "npm run build", false},
		{"python x.py", "python3 x.py", true},
		{"cat -A", "rtk proxy cat -A", true},
		{"go test ./layers/x", "go test ./layers/y", false},
	} {
		if got := mends(c.broken, c.fix); got != c.want {
			t.Errorf("mends(%q, %q) = %v, want %v", c.broken, c.fix, got, c.want)
		}
	}
}

// TestNotTwice gives a lasting wish whose request is listed as the last one: it is not there twice.
func TestNotTwice(t *testing.T) {
	t.Parallel()
	d := summarized(t, refine.Entry{N: 1, Role: "user", Said: "Mend the price parser"}, refine.Entry{N: 2, Role: "assistant", Said: "It rounds."},
		refine.Entry{N: 3, Role: "user", Said: "always use the other parser"}, refine.Entry{N: 4, Role: "assistant", Said: "It is in use."})
	now := stands(d, atStart[0])
	if got := wants([]Digest{d}, nil); len(got) != 1 {
		t.Fatalf("%d wants, want 1", len(got))
	}
	if got := wants([]Digest{d}, now); len(got) != 0 {
		t.Errorf("%q is there twice", got[0].Text)
	}
}

// TestMainTurn gives a session whose last exchanges are small: what it was about is told, requests to commit before the last
// exchange are not.
func TestMainTurn(t *testing.T) {
	t.Parallel()
	work := []Turn{
		{Asked: Said{N: 1, Text: "parse the prices"}, Answered: Said{N: 9, Text: "It parses them."}, Did: 40},
		{Asked: Said{N: 10, Text: "rename the parser"}, Answered: Said{N: 11, Text: "Renamed."}, Did: 3},
		{Asked: Said{N: 20, Text: "log the rest"}, Answered: Said{N: 21, Text: "Logged."}, Did: 2},
		{Asked: Said{N: 25, Text: "also mock it"}, Answered: Said{N: 26, Text: "Now fix the mocks:"}, Did: 60},
		{Asked: Said{N: 30, Text: "commit this"}, Answered: Said{N: 31, Text: "Committed."}, Did: 50},
		{Asked: Said{N: 40, Text: "a comment on it came"}, Answered: Said{N: 41, Text: "Answered."}, Did: 1},
	}
	for _, tt := range []struct {
		turns []Turn
		want  []int
	}{
		{work, []int{40, 30, 25}},
		{work[:5], []int{30, 25, 20}},
		{work[3:], []int{40, 30, 25}},
		{work[:3], []int{20, 10, 1}},
		{work[1:3], []int{20, 10}},
		{nil, nil},
	} {
		var got []int
		for _, turn := range recent(tt.turns, 3) {
			got = append(got, turn.Asked.N)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("of %d turns %v, want %v", len(tt.turns), got, tt.want)
		}
	}
}

// TestLasting gives messages of the user: what says how to work in more than the case at hand is told to every later session,
// what was to be done at once is not.
func TestLasting(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"always use tabs":                        "always use tabs",
		"never log the price":                    "never log the price",
		"when you add a rule, always add a test": "when you add a rule, always add a test",
		"from now on, no mocks":                  "from now on, no mocks",
		"ok, call it steps. read the old name, but always write the new one, and use \"steps\" in the manual": "",
		"yes, write it down, but make sure that claude asks before it pushes":                                 "yes, write it down, but make sure that claude asks before it pushes",
		"In future, ask before a push":                                                        "In future, ask before a push",
		"whenever you rename one, look into the manual":                                       "whenever you rename one, look into the manual",
		"they need not exist in the future state":                                             "",
		"for every test in the shop I'd like to see the whole value":                          "",
		"we need to make sure that once we add more shops this has their name. is that easy?": "",
		"I want it on by default":                                                             "",
		"write the plan to a file, don't commit":                                              "",
		"make sure you read it before you solve any of it":                                    "",
		"two faults: the counter is never asserted":                                           "",
		"we don't always have a price when we read the file":                                  "",
		"no, use the other parser":                                                            "",
		"use cents instead of mills":                                                          "",
		"should we always round?":                                                             "",
		"never mind":                                                                          "",
		"New commit":                                                                          "",
	} {
		if got := lastingIn(text); got != want {
			t.Errorf("lastingIn(%q) = %q, want %q", text, got, want)
		}
	}
	asks := func(said ...string) (out []refine.Entry) {
		for _, s := range said {
			out = append(out, refine.Entry{Role: "user", Said: s}, bash("make", "ok"))
		}
		return out
	}
	var got []string
	for _, it := range wants([]Digest{summarized(t, asks("mend it", "we need one more column")...), summarized(t, asks("mend it", "always use tabs. thanks", "no, mills")...)}, nil) {
		got = append(got, it.Text)
	}
	if want := []string{"“always use tabs.”"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestQueued gives words that waited in the client's queue: the source is the message with the words.
func TestQueued(t *testing.T) {
	t.Parallel()
	d := summarized(t, refine.Entry{Role: "user", Said: "mend it"}, bash("make", "ok"), bash("make", "ok"),
		refine.Entry{At: 2, Role: "user", Said: "always use tabs from now on, also in the tests of the shop"}, bash("make", "ok"))
	if got := stands(d, atStart[0])[0].Source; got != "#2" {
		t.Errorf("the source of the request is %s, want #2", got)
	}
	if got := wants([]Digest{d}, nil)[0].Source; got != "#2" {
		t.Errorf("the source of the wish is %s, want #2", got)
	}
}

// TestInterruptedPlan gives a session that ended with a plan that the user rejected: that is one line.
func TestInterruptedPlan(t *testing.T) {
	t.Parallel()
	stopped := Digest{Session: "a", Last: time.Date(2026, 2, 18, 9, 0, 0, 0, time.UTC), Turns: []Turn{{Asked: Said{N: 2, Text: "show the address at the top"}, Stopped: 9}},
		Open: []Open{{N: 7, What: exchange.RefusedPlan, Text: "Address in the header"}}}
	later := Digest{Session: "b", Turns: []Turn{{Asked: Said{N: 1, Text: "parse the prices"}, Answered: Said{N: 5, Text: "Done."}, Did: 3}}}
	got := open([]Digest{later, stopped}, 0, atStart[0])
	want := "2026-02-18: asked “show the address at the top”; the user rejected the plan “Address in the header” and interrupted"
	if len(got) != 1 || got[0].Text != want {
		t.Errorf("%+v, want one line %q", got, want)
	}
	began := Digest{Session: "c", Turns: []Turn{{Asked: Said{N: 1, Text: "Address in the header"}, Plan: "Address in the header", Answered: Said{N: 5, Text: "Done."}, Did: 3}}}
	if got := open([]Digest{later, began, stopped}, 0, atStart[0]); len(got) != 0 {
		t.Errorf("of a plan that a later session carried out: %+v", got)
	}
	stopped.Wants = []Want{{Said: Said{N: 8, Text: "no new component"}, Lead: refusedPlan}}
	if got := open([]Digest{later, stopped}, 0, atStart[0]); len(got) != 1 || got[0].Text != strings.Replace(want, "” and", "”: “no new component” and", 1) {
		t.Errorf("with the reason: %+v", got)
	}
	if got := open([]Digest{stopped}, 0, atStart[0]); len(got) != 1 || got[0].Text != "Plan that the user rejected: “Address in the header”" {
		t.Errorf("of the session that is shown: %+v", got)
	}
}

// TestDetail gives a long outcome: with more detail there is more of it.
func TestDetail(t *testing.T) {
	t.Parallel()
	d := summarized(t, refine.Entry{Role: "user", Said: "Mend the price parser"}, bash("make", "ok"),
		refine.Entry{Role: "assistant", Said: "The parser keeps cents.\n" + strings.Repeat("- The list of prices keeps them, too, as the shop wants it\n", 9)})
	size := 0
	for detail := range MostDetail + 1 {
		text := Start([]Digest{d}, detail)[0].Items[1].Text
		if len(text) <= size || brief.Units(text) > brief.MaxText {
			t.Errorf("detail %d: %d bytes after %d", detail, len(text), size)
		}
		size = len(text)
	}
}

// TestInterruptedOnce gives a session that ended with an interrupted request: it is there once.
func TestInterruptedOnce(t *testing.T) {
	t.Parallel()
	d := summarized(t, refine.Entry{N: 1, Role: "user", Said: "Mend the price parser"}, bash("make", "ok"),
		refine.Entry{N: 3, Role: "note", Said: "[Request interrupted by user]"})
	n := 0
	for _, s := range Start([]Digest{d}, 0) {
		for _, it := range s.Items {
			n += strings.Count(it.Text, "Mend the price parser")
		}
	}
	if n != 1 {
		t.Errorf("the request is there %d times", n)
	}
}

// TestBefore gives sessions before the newest: what is told as the end is how the last exchange ended.
func TestBefore(t *testing.T) {
	t.Parallel()
	user := func(s string) refine.Entry { return refine.Entry{Role: "user", Said: s} }
	model := func(s string) refine.Entry { return refine.Entry{Role: "assistant", Said: s} }
	const cents = "The parser keeps the price in whole cents now, also of a discount."
	begin := []refine.Entry{user("Mend the price parser"), bash("make", "ok"), bash("make", "ok"), model(cents)}
	for _, c := range []struct {
		name string
		then []refine.Entry
		want string
	}{
		{"one exchange", nil, "asked “Mend the price parser”; ended with “" + cents + "”"},
		{"thanks", []refine.Entry{user("thanks"), model("You are welcome.")}, "asked “Mend the price parser”; ended with “" + cents + "”"},
		{"a later exchange", []refine.Entry{user("Use mills, the shop has fuel"), bash("make", "ok"), model("Prices are in mills now, and the tests have one for the price of fuel.")},
			"asked “Mend the price parser”; last asked “Use mills, the shop has fuel”; ended with “Prices are in mills now, and the tests have one for the price of fuel.”"},
		{"one that says little", []refine.Entry{user("Use mills, the shop has fuel"), bash("make", "ok"), model("PR updated.")},
			"asked “Mend the price parser”; last asked “Use mills, the shop has fuel”; ended with “PR updated.”"},
		{"a commit after another exchange", []refine.Entry{user("Use mills, the shop has fuel"), bash("make", "ok"), model("Prices are in mills now."), user("commit"), bash("git commit -m x", "ok"), model("Committed.")},
			"asked “Mend the price parser”; last asked “Use mills, the shop has fuel”; ended with “Prices are in mills now.”; then committed, as asked"},
		{"a commit", []refine.Entry{user("commit"), bash("git commit -m x", "ok"), model("Committed as 50d8160, and the hooks of the repository passed.")},
			"asked “Mend the price parser”; ended with “" + cents + "”; then committed, as asked"},
		{"a contradiction without an answer", []refine.Entry{user("no")},
			"asked “Mend the price parser”; last asked “no”; ended before an answer"},
		{"an error without an answer", []refine.Entry{user("price: 12.5: Invalid argument")},
			"asked “Mend the price parser”; last asked “price: 12.5: Invalid argument”; ended before an answer"},
		{"an interrupted request", []refine.Entry{user("Use mills, the shop has fuel"), bash("make", "ok"), {Role: "note", Said: "[Request interrupted by user]"}},
			"asked “Mend the price parser”; a later request was interrupted by the user"},
		{"work without a last word", []refine.Entry{user("Use mills, the shop has fuel"), model("The shop has two parsers, and the other one rounds the price as well."), bash("make", "ok")},
			"asked “Mend the price parser”; last asked “Use mills, the shop has fuel”; ended during the work, after: “The shop has two parsers, and the other one rounds the price as well.”"},
	} {
		d := summarized(t, slices.Concat(begin, c.then)...)
		got := before([]Digest{{}, d}, 0, atStart[0].before)
		if len(got) != 1 || got[0].Text != c.want {
			t.Errorf("%s:\n got %+v\nwant %s", c.name, got, c.want)
		}
	}
}

// TestStaleForm gives sessions, the newest first, of which some have a command that fails for its form: it is listed if
// that is new, or happens in most sessions.
func TestStaleForm(t *testing.T) {
	t.Parallel()
	for fails, want := range map[string]bool{"x": true, "..x": true, "...x": false, "...x....x": false, "....xxxxx": true, "x.........x": true} {
		var list []Digest
		for _, c := range fails {
			d := Digest{Session: "s"}
			if c == 'x' {
				d.Broken = []Form{{Key: "opt cat  A", Line: "cat -A", Why: noOption + " -A"}}
			}
			list = append(list, d)
		}
		if got := len(failsHere(list)) == 1; got != want {
			t.Errorf("%s: listed %v, want %v", fails, got, want)
		}
	}
	d := summarized(t, bash("find lib -name x", "Exit code 1", "find: illegal option -- n"))
	if len(d.Broken) != 0 {
		t.Errorf("a name of one hyphen is no group of options: %+v", d.Broken)
	}
}

// TestMoreFiles gives more files than are listed: those of a session that is listed are counted, and those that stand with a later session too.
func TestMoreFiles(t *testing.T) {
	t.Parallel()
	d := Digest{Session: "s"}
	for i := range maxSet + 3 {
		d.Files = append(d.Files, File{Path: fmt.Sprintf("f%02d.go", i), Edits: 1, N: i + 1, Edited: i + 1})
	}
	later := Digest{Session: "t", Files: []File{{Path: "f00.go", Edits: 1}, {Path: "read.go", Reads: 1}}} // also edited a file of s
	for i := range 3 {
		later.Files = append(later.Files, File{Path: fmt.Sprintf("z%d.go", i), Edits: 1, N: i + 1, Edited: i + 1})
	}
	if got := workingSet([]Digest{later, d}); len(got) != 2 || !strings.HasSuffix(got[1].Text, " and 7 more") {
		t.Errorf("of two sessions: %+v", got)
	}
	got := workingSet([]Digest{d})
	if len(got) != 1 || !strings.HasPrefix(got[0].Text, "f14.go, ") || !strings.HasSuffix(got[0].Text, ", f03.go and 3 more") || got[0].Source != "s#15" {
		t.Errorf("%+v", got)
	}
}

// TestNewestRun gives runs of a command in two sessions, the newest last: it is the one that is told, with its own verdict, if it
// has one.
func TestNewestRun(t *testing.T) {
	t.Parallel()
	fails, passes, unproven := bash("bun run typecheck", "Exit code 1"), bash("bun run typecheck", "ok"), bash("bun run typecheck | tail -3", "ok")
	for _, c := range []struct {
		name       string
		old, later []refine.Entry
		want       string
	}{
		{"a run that passed", []refine.Entry{fails}, []refine.Entry{passes}, "bun run typecheck: passed b#2"},
		{"unproven after a failure", []refine.Entry{fails, unproven}, nil, "bun run typecheck: failed, exit 1; later run again, no result seen a#3"},
		{"unproven after one that passed", []refine.Entry{passes, unproven}, nil, ""},
		{"a failure after an unproven one", []refine.Entry{unproven, fails}, nil, "bun run typecheck: failed, exit 1 a#3"},
		{"unproven in a later session", []refine.Entry{fails}, []refine.Entry{passes, unproven}, ""},
		{"of the earlier session alone", []refine.Entry{passes}, []refine.Entry{bash("make", "ok")}, "bun run typecheck: passed a#2"},
	} {
		ask := refine.Entry{Role: "user", Said: "go"}
		old, later := summarized(t, append([]refine.Entry{ask}, c.old...)...), summarized(t, append([]refine.Entry{ask}, c.later...)...)
		old.Session, later.Session = "a", "b"
		var got []string
		for _, it := range commandItems([]Digest{later, old}) {
			if strings.HasPrefix(it.Text, "bun") {
				got = append(got, it.Text+" "+it.Source)
			}
		}
		if strings.Join(got, " / ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
