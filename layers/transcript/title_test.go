package transcript

import "testing"

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
