package term

import (
	"strings"
	"unicode"
)

// QuoteAll quotes the words that contain characters special to a shell.
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

// special reports whether a character may be special to a shell.
func special(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_@%+=:,./-~", r)
}

// Shell returns a command line; words are quoted as needed, because names and paths may come from other devices.
func Shell(words ...string) string { return strings.Join(QuoteAll(words), " ") }
