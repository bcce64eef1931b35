package term

import (
	"strings"
	"unicode"
)

// QuoteAll quotes words as a shell wants them: all but those of characters that mean nothing to one.
func QuoteAll(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || w[0] == '~' || strings.ContainsFunc(w, special) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return out
}

// special reports whether a character may mean something to a shell.
func special(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_@%+=:,./-~", r)
}

// What mends a finding is a line to type into a shell, each of them: a command, or an editor for the file in which
// something is to be changed by hand, with what that is behind a "#". A word in capitals stands for what only
// the user knows. Names and paths are quoted, for others choose some of them.

// Shell returns a command line.
func Shell(words ...string) string { return strings.Join(QuoteAll(words), " ") }
