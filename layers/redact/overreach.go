package redact

import (
	"regexp"
)

// written are examples of the text and the names that mem itself writes. A rule that matches a part of one matches
// everywhere.
var written = []struct {
	text    string
	message bool // it is from a commit message, which cannot be redacted
}{
	{":v001  9.7k -> 958 tokens", true},
	{"2.0k tokens, 1 part", true},
	{"import 25 sessions", true},
	{RulesVersion, false},
	{"2026-01-15T10:00:00.000Z", false},
	{"6ecd8c99-4036-403d-bf84-cf8400f67836", false},
}

// Overreach reports whether a rule of the user matches text that mem itself writes. It returns the match and the whole
// text, or two empty strings. If stops is set, the text is in the messages of all commits, so every push would fail.
func Overreach(re *regexp.Regexp) (part, whole string, stops bool) {
	for _, w := range written {
		for _, part := range re.FindAllString(w.text, -1) {
			if part != "" {
				return part, w.text, w.message
			}
		}
	}
	return "", "", false
}
