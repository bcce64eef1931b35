package redact

import (
	"regexp"

	"github.com/memvcs/mem/layers/redact/scanner"
)

// written are what mem itself writes beside the text of sessions, and names: a rule that finds a part of one
// finds it everywhere.
var written = []struct {
	text    string
	message bool // it is of the message of a commit, which nothing is taken out of
}{
	{":v001  9.7k -> 958 tokens", true},
	{"2.0k tokens, 1 part", true},
	{"import 25 sessions", true},
	{scanner.Version, false},
	{"2026-01-15T10:00:00.000Z", false},
	{"6ecd8c99-4036-403d-bf84-cf8400f67836", false},
}

// Overreach returns what a rule of the user's finds of what mem writes itself: the part that it finds, and the
// whole. Stops says that this is a part of messages that every push holds, so that none would pass. Both are
// empty for a rule that finds nothing there.
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
