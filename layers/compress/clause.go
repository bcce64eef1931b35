package compress

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/tokens"
)

const (
	gap       = " … " // marks omitted text in a line
	shortLine = 60    // bytes; shorter lines are not split
	fewest    = 12    // of a sentence
	longUnit  = 600   // bytes; longer sentences are split at a comma, and what is longer still between words
)

// sentence returns the length of the sentence that s starts with, with the space behind it, or of its beginning if that is
// very long: more of it follows then. No word within a sentence is ever left out.
func sentence(s string) (n int, more bool) {
	comma, space, depth := 0, 0, 0 // behind the last comma and space; open brackets
	if len(s) <= shortLine && !strings.HasSuffix(s, ":") && !strings.Contains(s, ". Let me ") && !strings.Contains(s, ". Now ") {
		return len(s), false
	}
	for i, r := range s {
		if i >= longUnit {
			return cmp.Or(comma, space, i), true
		}
		switch r {
		case '.', '!', '?':
			rest := strings.TrimLeft(s[i+1:], `"')]*`+"`")
			closing := s[i+1 : len(s)-len(rest)]
			open := depth - strings.Count(closing, ")") - strings.Count(closing, "]")
			if j := len(s) - len(rest); j >= fewest && strings.HasPrefix(rest, " ") && !goesOn(s[:i], rest) &&
				(open <= 0 || strings.Count(rest, ")") <= strings.Count(rest, "(")) {
				return len(s) - len(strings.TrimLeft(rest, " ")), false
			}
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '。', '！', '？':
			return i + utf8.RuneLen(r), false
		case '，', '；':
			comma = i + utf8.RuneLen(r)
		case ' ':
			if space = i + 1; i > 0 && strings.IndexByte(",;:", s[i-1]) >= 0 {
				comma = space
			}
		}
	}
	return len(s), false
}

// abbreviations are what a sentence goes on after.
var abbreviations = []string{"vs", "e.g", "i.e", "cf", "eg", "ie", "approx", "incl"}

// goesOn reports whether a sentence goes on behind a stop: a small letter follows, or an abbreviation is before it.
func goesOn(before, next string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(next, " "))
	word := strings.TrimLeft(before[strings.LastIndexAny(before, " \t(")+1:], `"'*_[`+"`")
	return unicode.IsLower(r) || slices.Contains(abbreviations, strings.ToLower(word))
}

// Brief returns a text of one line, or of a long one the beginning up to the end of a clause.
func Brief(s string) string {
	const short, long = 10, 80 // bytes
	if len(s) <= long {
		return s
	}
	closed := func(s string) bool { // code, quotations and brackets end in it
		return strings.Count(s, "`")%2 == 0 && strings.Count(s, `"`)%2 == 0 && strings.Count(s, "(") == strings.Count(s, ")")
	}
	at := 0
	for _, end := range []string{", ", "; ", ": ", " - ", " — ", " – ", " → ", " ("} {
		for k := strings.LastIndex(s[:long], end); k > max(at, short); k = strings.LastIndex(s[:k], end) {
			if closed(s[:k]) {
				at = k
			}
		}
	}
	if at > 0 {
		return s[:at]
	}
	if s = tokens.Clip(s, long); strings.Count(s, "`")%2 != 0 {
		s = strings.ReplaceAll(s, "`", "")
	}
	return s
}
