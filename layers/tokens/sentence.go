package tokens

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	shortLine = 60  // bytes; shorter lines are not split
	fewest    = 12  // of a sentence
	longUnit  = 600 // bytes; longer sentences are split at a comma, and what is longer still between words
)

// Sentence returns the length of the sentence that s starts with, with the space behind it, or of its beginning if that is
// very long: more of it follows then. No word within a sentence is ever left out.
func Sentence(s string) (n int, more bool) {
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

// goesOn reports whether a sentence goes on behind a stop: a small letter follows, or it is within code
// or after an abbreviation.
func goesOn(before, next string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(next, " "))
	word := strings.TrimLeft(before[strings.LastIndexAny(before, " \t(")+1:], `"'*_[`+"`")
	return unicode.IsLower(r) || strings.Count(before, "`")%2 != 0 || slices.Contains(abbreviations, strings.ToLower(word))
}
