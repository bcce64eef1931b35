package transcript

import (
	"strings"
	"testing"
)

func TestTitleOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Use cents.": "Use cents.",
		"Use cents. ##keepit0.80## Never floats.":            "Use cents.",
		"##keepit1.00## Use cents. ##keepit0.80## No floats": "Use cents.",
		"We ##keepit0.80##use cents##/keepit## here. Always": "We use cents here.",
		"##keepit0.8## Use cents":                            "Use cents",
		"##keepit1.00##rule a\n##keepit1.00##rule b":         "rule a",
		"Use cents ##keepit0.80## never floats":              "Use cents",
		"##keepit1.00##":                                     "",
		"##keepit":                                           "##keepit",
		"a ## b ##keepit goes on for a long while ## c":      "a ## b ##keepit goes on for a long while ## c",
		"# Memory: rr":                                       "# Memory: rr",
		"# Memory: rr\n\nThis is context from earlier sessions, put together by mem. [mem 1]": "",
		"[mem 1#59 user]\ncould we use it?":                                                   "",
		"## 2. Rounding, 2026-01-22\n[mem 2#4 user]\nhi":                                      "",
		"## 2. Rounding":      "## 2. Rounding",
		"[mem] is no tag. So": "[mem] is no tag.",
		"[mem #5] is no tag":  "[mem #5] is no tag",
		// Ends of sentences.
		"fix the tests. then push":                     "fix the tests.",
		"Why does it hang? It should not.":             "Why does it hang?",
		"Stop! Now":                                    "Stop!",
		"He said \"stop.\" Then he went":               "He said \"stop.\"",
		"直して。次に":                                       "直して。",
		"first line\ngoes on. Next":                    "first line\ngoes on.",
		"add a licence\n\nMIT if possible":             "add a licence",
		"add a licence\n \t\nMIT":                      "add a licence",
		"Do this:\n\n# Plan: lint in CI\n\n## Context": "Do this:\n\n# Plan: lint in CI",
		"Implement the following plan:\n\n# Plan: Fix lint. Now\n\n## Context": "Fix lint. Now",
		"Implement the following plan:\r\n\r\n# `a` for b\r\n":                 "`a` for b",
		"implement this plan:\n# Implementation Plan\n\n## Step 1: x":          "Step 1: x",
		"Implement the following plan:\n\nFix lint. Then test.":                "Fix lint.",
		"Implement the following plan:\n\n# Plan\n\nFix lint. Then test.":      "Fix lint.",
		"Implement the following plan:":                                        "Implement the following plan:",
		"Implement the following plan: fix lint. Then\n# x":                    "Implement the following plan: fix lint.",
		"# Plan\ntext": "# Plan",
		// No ends.
		"see https://example.com/a.b?c=d for v1.2.3 of x.go please": "see https://example.com/a.b?c=d for v1.2.3 of x.go please",
		"use a cache, e.g. an LRU. Later":                           "use a cache, e.g. an LRU.",
		"cats vs. dogs etc. in the list. Next":                      "cats vs. dogs etc. in the list.",
		"dogs etc. Then stop":                                       "dogs etc.",
		"see No. 5 of J. Smith. Then":                               "see No. 5 of J. Smith.",
		"No. Do it again":                                           "No.",
		"so do I. Then":                                             "so do I.",
		"1. fix the parser. 2. push":                                "1. fix the parser.",
		"finish step 1. Then push":                                  "finish step 1.",
		"hmm... what about this? Yes":                               "hmm... what about this?",
		"run `a. b` now. Then":                                      "run `a. b` now.",
		"an odd ` mark. Then":                                       "an odd ` mark.",
		"bad \xff. Then":                                            "bad \xff. Then",
	} {
		if got := titleOf(text); got != want {
			t.Errorf("titleOf(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestNamesSubject(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"hi": false, "Hi!": false, "9": false, "help!": false, "Ship it.": false, "do both please": false, "ok, go on": false,
		"can you take a look?": false, "let's discuss": false, "can we add one more thing?": false, "": false, "…": false,
		"can you look at the changes in this branch?": false, "commit this, then let's do it": false,
		"that’s great, thanks": false, "Let's fix the parser": true, "fix it": false, "Fix the flaky parser": true, "see cart.go": true,
		"continue with MCP-108": true, "look at @docs": true, "what does `entire session show` do?": true,
		"release v1.2": true, "see https://example.com/x": true, "价格用分": true, "はい": false, "почини тесты цен": true,
		"/workflows:review": true, "fix mise test": true,
	} {
		if got := namesSubject(text); got != want {
			t.Errorf("namesSubject(%q) = %v, want %v", text, got, want)
		}
	}
}

// TestTitleSource shows which text of a session becomes its title.
func TestTitleSource(t *testing.T) {
	t.Parallel()
	user := func(s string) string { return `{"type":"user","message":{"role":"user","content":"` + s + `"}}` + "\n" }
	model := func(s string) string {
		return `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` + s + `"}]}}` + "\n"
	}
	for name, c := range map[string]struct {
		file, title, second string
		from                TitleFrom
	}{
		"the first request":  {user("Round prices half up") + model("Done."), "Round prices half up", "", FromTyped},
		"vague, then clear":  {user("hi") + model("Hello! Ready for the price work.") + user("Round prices half up"), "Round prices half up", "", FromTyped},
		"a second one":       {user("Round prices half up") + user("ok") + user("Test the coupon code"), "Round prices half up", "Test the coupon code", FromTyped},
		"only vague":         {user("do both please") + model("Done. The cart and the order round half up. More"), "The cart and the order round half up.", "", FromOutcome},
		"the last outcome":   {user("do it") + model("First the cart rounds.") + user("go on") + model("Now the order rounds too."), "Now the order rounds too.", "", FromOutcome},
		"vague, no answer":   {user("do both please"), "do both please", "", FromVague},
		"Claude's own title": {user("Round prices half up") + `{"type":"ai-title","aiTitle":"Price rounding"}` + "\n", "Price rounding", "", FromSummary},
	} {
		sc := NewScanner(Carry{}, func([]byte) [32]byte { return [32]byte{} })
		_, _ = sc.Write([]byte(c.file)) // never fails
		s := sc.Summary()
		if s.Title != c.title || s.TitleFrom != c.from || s.Second != c.second {
			t.Errorf("%s: title %q from %d, second %q; want %q from %d, %q", name, s.Title, s.TitleFrom, s.Second, c.title, c.from, c.second)
		}
	}
}

// TestTitleOfWithdrawn takes no title from what the user withdrew, in one scan and in several.
func TestTitleOfWithdrawn(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"type":"user","message":{"role":"user","content":"Store the logs in Elastic"}}`,
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Elastic runs."}]}}`,
		`{"type":"user","message":{"role":"user","content":"Add a dashboard for Elastic"}}`,
		`{"type":"user","message":{"role":"user","content":"Store the logs in Loki"}}`,
		`{"type":"user","message":{"role":"user","content":"Add a dashboard for Loki"}}`,
		`{"type":"user","message":{"role":"user","content":"Add a dashboard for the queue"}}`,
	}
	scan := func(carry Carry, lines []string, withdrawn Spans) Carry {
		sc := NewScanner(carry, func([]byte) [32]byte { return [32]byte{} })
		for _, l := range lines {
			_, _ = sc.Write([]byte(l + "\n")) // never fails
		}
		sc.Withdraw(withdrawn)
		return sc.Summary().Carry
	}
	for _, c := range []struct {
		withdrawn     Spans
		title, second string
	}{
		{nil, "Store the logs in Elastic", "Add a dashboard for Elastic"},
		{Spans{{1, 3}}, "Store the logs in Loki", "Add a dashboard for Loki"},
		{Spans{{3, 3}}, "Store the logs in Elastic", "Store the logs in Loki"},
		{Spans{{1, 3}, {5, 5}}, "Store the logs in Loki", "Add a dashboard for the queue"},
	} {
		whole := scan(Carry{}, lines, c.withdrawn)
		if whole.Title != c.title || whole.Second != c.second {
			t.Errorf("without %v: title %q, second %q; want %q, %q", c.withdrawn, whole.Title, whole.Second, c.title, c.second)
		}
		for cut := range 4 { // up to the prompt that withdraws the ones before
			parts := scan(scan(Carry{}, lines[:cut], nil), lines[cut:], c.withdrawn)
			if parts.Title != whole.Title || parts.Second != whole.Second || parts.TitleN != whole.TitleN || parts.SecondN != whole.SecondN {
				t.Errorf("without %v, from %d on: title %q, second %q; want %q, %q", c.withdrawn, cut, parts.Title, parts.Second, whole.Title, whole.Second)
			}
		}
	}
}

func TestOfSession(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		`{"type":"user","message":{"role":"user","content":"hi"}}`:          true,
		`{"type":"summary","summary":"Prices","leafUuid":"u"}`:              true,
		`{"type":"of-tomorrow","sessionId":"s"}`:                            true,
		`{"type":"session_meta","payload":{"id":"0199","cwd":"/home/dev"}}`: true,
		`{"type":"event","name":"click","n":1}`:                             false,
		`{"type":"Feature","geometry":{"type":"Point"}}`:                    false,
		`{"level":"info","msg":"started"}`:                                  false,
	} {
		m, err := Skim(Value{N: 1, Raw: []byte(raw)})
		if got := err == nil && m.OfSession(); got != want {
			t.Errorf("%s: %v, want %v", raw, got, want)
		}
	}
}

// TestTitleOfFile checks that Title, which skips records, returns what a scanner says that has read them all.
func TestTitleOfFile(t *testing.T) {
	t.Parallel()
	user := func(id, text string) string {
		return `{"type":"user","uuid":"` + id + `","message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	answer := `{"type":"assistant","uuid":"b","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"I read the cart."}]}}` + "\n"
	long := answer[:len(answer)-5] + `","x":"` + strings.Repeat("x", 200<<10) + `"}}` + "\n"
	for name, lines := range map[string]string{
		"none": "", "no request": answer, "a vague one": user("a", "go on") + answer, "typed": user("a", "Mend the cart."),
		"typed late":       user("a", "go on") + answer + strings.Repeat(answer, 1000) + user("c", "Mend the cart."),
		"a summary of it":  user("a", "Mend the cart.") + answer + `{"type": "summary", "summary":"The cart", "leafUuid":"b"}` + "\n",
		"of another":       user("a", "Mend the cart.") + answer + `{"type":"summary","summary":"The cart","leafUuid":"z"}` + "\n",
		"after a long one": user("a", "Mend the cart.") + long + `{"type":"custom-title","customTitle":"Cart"}` + "\n",
	} {
		sc := NewScanner(Carry{}, func([]byte) [32]byte { return [32]byte{} })
		sc.Write([]byte(lines))
		if got, want := Title(strings.NewReader(lines), func(b []byte) []byte { return b }), sc.Summary().Title; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
