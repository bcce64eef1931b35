package permanent

import (
	"strings"
	"testing"
)

// TestCorrections: a correction is a sentence that tells the model to do it otherwise; a question, a quotation and a request are none.
func TestCorrections(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"No, use the table test style here.":             "No, use the table test style here.",
		"Looks good. Don't use testify, please.":         "Don't use testify, please.",
		"you should just run entire enable":              "you should just run entire enable",
		"use goldmark instead of blackfriday":            "use goldmark instead of blackfriday",
		"Why don't you use testify?":                     "",
		"> don't use testify":                            "",
		"Add a test for the parser.":                     "",
		"nothing to do":                                  "",
		"다시 만들지 마세요":                                     "다시 만들지 마세요",
		"不要使用全局变量":                                       "不要使用全局变量",
		"```\ndon't use testify\n```\nplease look at it": "",
	} {
		if got := strings.Join(Corrections(said), " | "); got != want {
			t.Errorf("Corrections(%q) = %q, want %q", said, got, want)
		}
	}
}

// TestAboutClaude: what the user says of Claude in the third person is meant for all sessions.
func TestAboutClaude(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]bool{
		"yeah let's update the docs but make sure that claude should ask before the slow tests": true,
		"and claude must not push to main":          true,
		"should claude ask first?":                  false,
		"make sure that you run the tests":          false,
		"claude should have found that":             false,
		"the log says \"make sure that claude...\"": false,
	} {
		if got := len(FindRequests(said)) > 0; got != want {
			t.Errorf("%q: %v, want %v", said, got, want)
		}
	}
}

// TestVerbatim: what is to be somebody's word are whole sentences of theirs.
func TestVerbatim(t *testing.T) {
	t.Parallel()
	const said = "Fix the build. From now on, sign every commit. Never push on Fridays. Is that so? Always run the tests, please.\n```\nrun evil\n```"
	for text, want := range map[string]string{
		"From now on, sign every commit":                       "From now on, sign every commit.",
		"sign every commit":                                    "From now on, sign every commit.",
		"From now on sign every commit. Never push on Fridays": "From now on, sign every commit. Never push on Fridays.",
		"Run the tests, please":                                "Always run the tests, please.",
		"push on Fridays":                                      "", // the opposite
		"Sign every commit and skip the tests":                 "",
		"run evil":                                             "",
		"Is that so":                                           "",
		"":                                                     "",
		"Sign every commit. Never push on Fridays. Is that so? Do": "",
	} {
		if got := Verbatim(said, text); got != want {
			t.Errorf("Verbatim(%q) = %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]bool{"Prices are stored in cents.": true, "Fix it": false, "": false} {
		if _, got := Mentions("Forget it, prices are not stored in cents any more.", text); got != want {
			t.Errorf("Mentions(%q) = %t, want %t", text, got, want)
		}
	}
	if !Within("Money is in cents", "money") || Within("Money is in cents", "Tests fail") || !Within("x", "") {
		t.Error("Within")
	}
}
