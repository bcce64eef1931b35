package search

import (
	"strings"
	"testing"
	"time"
)

// TestCommon holds that a question of common words is a phrase, and no other is.
func TestCommon(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"should": "should", "Is it  the": "Is it  the", "->": "", "*": "", "the parser": "", "": "", `"should"`: "should",
		"what is still open": "", "what did we do today": ""} {
		q := Ask(text, time.Date(2026, 1, 21, 15, 0, 0, 0, time.UTC))
		if got := strings.Join(q.Phrases, "|"); got != want || q.Common != (want != "" && text[0] != '"') {
			t.Errorf("Ask(%q) has the phrases %q, common %t; want %q", text, got, q.Common, want)
		}
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 21, 15, 0, 0, 0, time.UTC) // a Wednesday
	for _, x := range []struct {
		text, words, since, until string
		requests                  bool
	}{
		{"what did we do last week?", "", "2026-01-12", "2026-01-19", true},
		{"why did the build fail yesterday", "why did the build fail", "2026-01-20", "2026-01-21", false},
		{"Can you find out why the build fails?", "why the build fails?", "", "", false},
		{"please show the parser", "please show the parser", "", "", false},
		{"changes of the parser since last monday", "changes of the parser", "2026-01-19", "", false},
		{"the parser before 2026-01-10", "the parser", "", "2026-01-10", false},
		{"what happened 2 weeks ago", "", "2026-01-05", "2026-01-12", true},
		{"the parser on 2026-01-10", "the parser", "2026-01-10", "2026-01-11", false},
		{"last wednesday: the lexer", ": the lexer", "2026-01-14", "2026-01-15", false},
		{"the last weekend", "the last weekend", "", "", false},
		{"today", "", "2026-01-21", "2026-01-22", true},
		{"what failed last month", "what failed", "2025-12-01", "2026-01-01", false},
		{"timeout two weeks ago", "timeout", "2026-01-05", "2026-01-12", false},
		{"timeout a couple of days ago", "timeout", "2026-01-19", "2026-01-20", false},
		{"timeout in the last 3 days", "timeout", "2026-01-18", "2026-01-22", false},
		{"timeout over the past week", "timeout", "2026-01-14", "2026-01-22", false},
		{"timeout since monday", "timeout", "2026-01-19", "", false},
		{"timeout on wednesday", "timeout", "2026-01-21", "2026-01-22", false},
		{"timeout before friday", "timeout", "", "2026-01-16", false},
		{"timeout an hour ago", "timeout", "2026-01-21", "2026-01-21", false},
		{"timeout a year ago", "timeout", "2025-01-01", "2026-01-01", false},
		{"the monday report", "the monday report", "", "", false},
		{"the last five tests", "the last five tests", "", "", false},
		{"last week of the sprint board", "of the sprint board", "2026-01-12", "2026-01-19", false},
		{`"last week"`, "", "", "", false},
	} {
		q := Ask(x.text, now)
		day := func(s int64) string {
			if s == 0 {
				return ""
			}
			return time.Unix(s, 0).UTC().Format(time.DateOnly)
		}
		if q.Words != x.words && !(x.requests && q.Words == "") || day(q.Filter.Since) != x.since || day(q.Filter.Until) != x.until ||
			q.Filter.Requests != x.requests {
			t.Errorf("Ask(%q) = %q from %s to %s, %v", x.text, q.Words, day(q.Filter.Since), day(q.Filter.Until), q.Filter.Requests)
		}
	}
}
