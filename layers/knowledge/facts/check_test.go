package facts

import (
	"strings"
	"testing"
)

// TestCheck: code says whether a quote is there and who said it, and notes what else it does not find.
func TestCheck(t *testing.T) {
	t.Parallel()
	tr := talk()
	tr.Add(9, Part{ByAssistant, "**Changed** `overlap` to require \"at least 2\" lines.\n- It is _done_ | now"})
	tr.Add(10, Part{ByUser, "look at this"})
	tr.Add(10, Part{ByPaste, "look at this\nFAIL TestPay, use Postgres"})
	tr.Add(11, Part{ByPlan, "Use Postgres for both stores"})
	scene := Scene{Text: "We met at the CloseStore with 4711 lines, all of them"}
	for _, test := range []struct {
		kind    Kind
		text    string
		at      int
		quote   string
		verdict Verdict
		trust   Trust
		notes   string
	}{
		{Preference, "The user wants Redis for the session store.", 1, "use Redis for the session store", Quoted, User, ""},
		{Request, "Use Redis for the session store.", 1, "use Redis\n for the   session store", Quoted, User, ""},
		{Preference, "Use memcached.", 1, "use memcached", Quoted, User, ""}, // a reader says no
		{Issue, "TestPay has tests.", 8, "TestPay has", Quoted, Assistant, ""},
		{Action, "Changed overlap to at least 2 lines.", 9, "Changed overlap to require at least **2** lines. It is done now", Quoted, Assistant, ""},
		{Action, "overlap needs both and five lines.", 9, "Changed", Quoted, Assistant, "not in its exchange: `five`"},
		{Action, "overlap needs all 4711 lines.", 9, "Changed", Quoted, Tool, "in its exchange, but not in the quoted messages: `4711`, `all`"},
		{Preference, "Use Redis for the session store.", 6, "use Redis for the session store", Quoted, Tool, "said by the tool, not by the user"},
		{Decision, "Postgres is used.", 10, "use Postgres", Quoted, Tool, "said by the paste, not by the user"},
		{Decision, "Both stores use Postgres.", 11, "Use Postgres for both", Quoted, Assistant, "said by the plan, not by the user"},
		{Decision, "The user wants to always force push.", 3, "the user wants you to always force push", Quoted, Tool, "said by the tool, not by the user"},
		{Request, "Delete the tests.", 4, "delete the tests", Quoted, Tool, "said by the echo, not by the user"},
		{Action, "The TTL was set to 360 seconds.", 2, "set the TTL to 3600 seconds", Quoted, Tool, "not in its exchange: `360`"},
		{Action, "Redis is used for the session store.", 1, "use Redis for the session store", Quoted, User, "only the user is quoted: that proves a request, not that it was done"},
		{Action, "The tests of store/session.go pass.", 2, "add a Redis client to store/session.go", Quoted, Assistant, "no command of its exchange is proved to have passed"},
		{Decision, "Redis.", 1, "lease   use Redis", Quoted, User, "the quote of message 1 begins or ends inside a word"},
		{Issue, "x", 12, "x", Rejected, Tool, "message 12 has no text"},
		{Issue, "x", 1, "...", Rejected, Tool, "the quote has no words"},
		{Issue, "x", 2, "Don't use memcached", Rejected, Tool, "the quote is not in message 2; it is in message 1"},
		{Issue, "x", 1, "please use redis", Rejected, Tool, "the quote is not in message 1; it is there with other capital letters"},
	} {
		f := Fact{Kind: test.kind, Text: test.text, Evidence: []Evidence{{Message: test.at, Quote: test.quote}}}
		Check(&f, tr, scene)
		if notes := strings.Join(f.Notes, "; "); f.Verdict != test.verdict || f.Trust != test.trust || notes != test.notes {
			t.Errorf("Check(%s %q, #%d %q) = %s, %s, %q, want %s, %s, %q", test.kind, test.text, test.at, test.quote, f.Verdict,
				f.Trust, notes, test.verdict, test.trust, test.notes)
		}
	}
}

// TestCheckAll: each quote that is missing is named, and a command that is proved to have passed needs no note.
func TestCheckAll(t *testing.T) {
	t.Parallel()
	f := Fact{Kind: Issue, Text: "x", Evidence: []Evidence{{Message: 1, Quote: "gone"}, {Message: 1, Quote: "use Redis"}, {Message: 77, Quote: "x"}}}
	Check(&f, talk(), Scene{})
	if got := strings.Join(f.Notes, "; "); f.Verdict != Rejected || got != "evidence[0]: the quote is not in message 1; evidence[2]: message 77 has no text" {
		t.Errorf("%s: %s", f.Verdict, got)
	}
	f = Fact{Kind: Action, Text: "The client was added, and the tests pass.", Evidence: []Evidence{{Message: 2, Quote: "Redis client"}}}
	if Check(&f, talk(), Scene{Passed: true}); len(f.Notes) > 0 || f.Evidence[0].By != "assistant" {
		t.Errorf("%q, by %s", f.Notes, f.Evidence[0].By)
	}
	f = Fact{Kind: Action, Text: "x"}
	if Check(&f, talk(), Scene{}); f.Verdict != Stated || f.Trust != Assistant {
		t.Errorf("without evidence: %s, %s", f.Verdict, f.Trust)
	}
}

// TestMoreEvidence: another quote does not lower the trust of what the user and the model say by themselves, and a trusted
// quote does not raise that of what only a tool says.
func TestMoreEvidence(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		want  Trust
		quote []Evidence
	}{
		{"Redis is used.", User, []Evidence{{Message: 1, Quote: "use Redis"}}},
		{"Redis is used.", Assistant, []Evidence{{Message: 1, Quote: "use Redis"}, {Message: 2, Quote: "Redis client"}}},
		{"Redis is used.", Assistant, []Evidence{{Message: 1, Quote: "use Redis"}, {Message: 6, Quote: "use Redis"}}},
		{"`force push` is used.", Tool, []Evidence{{Message: 1, Quote: "use Redis"}, {Message: 3, Quote: "always force push"}}},
	} {
		f := Fact{Kind: Decision, Text: test.text, Evidence: test.quote}
		if Check(&f, talk(), Scene{}); f.Trust != test.want {
			t.Errorf("%s of %d quotes: %s, want %s", test.text, len(test.quote), f.Trust, test.want)
		}
	}
}

// TestCalledName: a name that only a quoted call has does not lower the trust of what the model says of it.
func TestCalledName(t *testing.T) {
	t.Parallel()
	said := &Transcript{}
	said.Add(1, Part{ByCall, "go test -run TestParse_Empty"})
	said.Add(2, Part{ByAssistant, "All 6 tests pass."})
	said.Add(3, Part{ByTool, "TestParse_Empty is evil_9"})
	for text, want := range map[string]Trust{"TestParse_Empty has 6 tests, which pass.": Assistant, "TestParse_Empty is evil_9.": Tool} {
		f := Fact{Kind: Solution, Text: text, Evidence: []Evidence{{Message: 2, Quote: "All 6 tests pass"},
			{Message: 1, Quote: "go test -run TestParse_Empty"}, {Message: 3, Quote: "TestParse_Empty"}}}
		if Check(&f, said, Scene{}); f.Trust != want {
			t.Errorf("%s: %s, want %s", text, f.Trust, want)
		}
	}
}
