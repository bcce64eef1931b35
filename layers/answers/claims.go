// Package answers reads what a model or a person hands in: whether its JSON has the form that was asked for, and whether a source
// supports what its texts say.
//
// The form is a Go type: names, descriptions, values and limits stand in the tags of its fields. The schema that is handed out,
// and the errors that name every wrong field at once, follow from them ([Schema], [Decode]).
//
// Code finds the checkable terms of a text ([Missing]): paths, numbers, identifiers, flags, and everything in back-ticks. An
// invented term is an invented fact, so each term must occur in the source. Plain words are not claims, because a writer may
// choose them freely.
//
// Whether the source means what a sentence says, only a reader can tell. Facts and summaries of a model are asked back in the
// same words ([Instructions]), and the answers have one form ([Answer]). Text that a question contains is data: it stands
// between fences with a key that does not occur in it, see [Fenced].
package answers

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Missing returns the claims of text that source does not contain, each once, in their order.
func Missing(text, source string) []string { return NewSource(source).Missing(text) }

// Missing returns the claims of text that the source does not contain, each once, in their order.
func (x Source) Missing(text string) []string {
	var bad []string
	add := func(claim string) {
		if !slices.Contains(bad, claim) {
			bad = append(bad, claim)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		rest := trimBullet(line)
		for rest != "" {
			before, span, after := cutCode(rest)
			eachToken(before, func(c string) {
				if !x.supports(c) {
					add(c)
				}
			})
			if span != "" && !x.supportsCode(span) {
				add(span)
			}
			rest = after
		}
	}
	return bad
}

// trimBullet removes the number of a list item: "1. " or "2) ".
func trimBullet(line string) string {
	trimmed := strings.TrimLeft(line, " \t")
	rest := strings.TrimLeft(trimmed, "0123456789")
	if n := len(trimmed) - len(rest); n == 0 || n > 2 || !strings.HasPrefix(rest, ". ") && !strings.HasPrefix(rest, ") ") {
		return line
	}
	return rest[2:]
}

// cutCode splits s around its first span in back-ticks.
func cutCode(s string) (before, span, after string) {
	i := strings.IndexByte(s, '`')
	if i < 0 {
		return s, "", ""
	}
	j := strings.IndexByte(s[i+1:], '`')
	if j < 0 {
		return s[:i] + " " + s[i+1:], "", ""
	}
	return s[:i], s[i+1 : i+1+j], s[i+j+2:]
}

// eachToken yields the runs of characters that can form paths, numbers and identifiers. Scripts without spaces between
// words end a run.
func eachToken(s string, yield func(string)) {
	for chunk := range strings.FieldsFuncSeq(s, func(r rune) bool { return !isTokenRune(r) }) {
		chunk = strings.TrimRight(chunk, ".,:-/\\=&?+~@#*")
		if chunk != "" {
			yield(chunk)
		}
	}
}

func isTokenRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isWordByte(byte(r)) || strings.ContainsRune("./\\-:=&?+~@#$%*,", r)
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Hangul)
}

func isWordByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

// A Source is a text in which claims are searched. Create it with [NewSource].
type Source struct {
	text    string
	lower   string
	numbers map[string]bool
}

// NewSource prepares a text for searching.
func NewSource(source string) Source {
	x := Source{text: strings.Join(strings.Fields(source), " "), numbers: map[string]bool{}}
	x.lower = strings.ToLower(x.text)
	eachNumber(x.text, func(n string) {
		x.numbers[n] = true
		for i := range min(len(n), maxNumber) { // 1.26 of 1.26.0
			if n[i] == '.' {
				x.numbers[n[:i]] = true
			}
		}
	})
	for i, w := range numberWords {
		if containsWord(x.lower, w) {
			x.numbers[strconv.Itoa(i+1)] = true
		}
	}
	return x
}

// maxNumber limits the prefixes of a number that count as numbers.
const maxNumber = 256

// eachNumber yields the numbers of s: digits with points, without separators of thousands. Digits after a letter belong
// to a name, except in v1.
func eachNumber(s string, yield func(string)) {
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			continue
		}
		j := i
		for j < len(s) && (isDigit(s[j]) || strings.IndexByte(".,_", s[j]) >= 0 && j+1 < len(s) && isDigit(s[j+1])) {
			j++
		}
		if i == 0 || !isWordByte(s[i-1]) || s[i-1] == 'v' {
			yield(strings.NewReplacer(",", "", "_", "").Replace(s[i:j]))
		}
		i = j
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// has reports whether claim occurs in the source as a whole word. A capital at its start is ignored.
func (x Source) has(claim string) bool {
	if containsWord(x.text, claim) {
		return true
	}
	r, n := utf8.DecodeRuneInString(claim)
	return unicode.IsUpper(r) && containsWord(x.text, string(unicode.ToLower(r))+claim[n:])
}

// containsWord reports whether word occurs in text without a letter or digit next to it.
func containsWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !isWordByte(text[i-1]) || !isWordByte(word[0])) &&
			(end == len(text) || !isWordByte(text[end]) || !isWordByte(word[len(word)-1])) {
			return true
		}
		from = i + 1
	}
}

// supportsCode reports whether the source contains the text of a code span: the whole text, or each of its words.
func (x Source) supportsCode(span string) bool {
	span = strings.Join(strings.Fields(span), " ")
	if span == "" || x.has(span) {
		return true
	}
	words := strings.FieldsFunc(span, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`"'(){}[],;<>|`, r)
	})
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool {
		return !x.has(w) && !x.supports(w) || isPlainWord(w) && !x.has(w)
	})
}

// supports reports whether the source contains a token, or the token is not a claim.
func (x Source) supports(c string) bool {
	c = strings.TrimLeft(strings.TrimRight(c, ",.:"), ",")
	if isNumber(strings.TrimLeft(c, numberSigns)) {
		return x.supportsNumber(c)
	}
	if c == "" || x.has(c) {
		return true
	}
	for _, sep := range []string{",", ":", "="} { // auth.go:42, A=1
		if left, right, ok := strings.Cut(c, sep); ok && left != "" {
			return x.supports(left) && x.supports(right)
		}
	}
	switch {
	case strings.ContainsFunc(c, unicode.IsDigit):
		return x.supportsNumber(c)
	case strings.ContainsAny(c, `/\`):
		return x.supportsPath(c)
	case isUpperWord(c), isIdentifier(c):
		return containsWord(x.lower, strings.ToLower(c)) // GitHub, github
	}
	return true
}

// supportsNumber reports whether the source supports a token with digits that does not occur in it: a number in another
// form, a number with a unit, or a range of numbers.
func (x Source) supportsNumber(c string) bool {
	c = strings.TrimLeft(c, numberSigns)
	unit := strings.TrimLeft(c, "0123456789.,_")
	number := c[:len(c)-len(unit)]
	if left, right, ok := strings.Cut(c, "-"); ok && isNumber(left) && isNumber(right) {
		return x.supportsNumber(left) && x.supportsNumber(right)
	}
	if number == "" || len(unit) > 3 || strings.ContainsFunc(unit, func(r rune) bool {
		return r != '%' && !unicode.IsLetter(r)
	}) {
		return false
	}
	ok := false
	eachNumber(number, func(n string) { ok = x.numbers[n] })
	return ok
}

// numberSigns may precede a number.
const numberSigns = "$#~+-"

func isNumber(s string) bool {
	return s != "" && isDigit(s[0]) && strings.Trim(strings.TrimSuffix(s, "%"), "0123456789.,") == ""
}

// supportsPath reports whether the source supports a token with slashes that does not occur in it. Two plain words with
// a slash are not a path if the source contains both.
func (x Source) supportsPath(c string) bool {
	c = strings.TrimPrefix(c, "./")
	if c == "" || x.has(c) {
		return true
	}
	left, right, ok := strings.Cut(c, "/")
	if !ok || !isPlainWord(left) || !isPlainWord(right) {
		return false
	}
	said := func(w string) bool {
		return containsWord(x.lower, strings.ToLower(w)) ||
			slices.Contains([]string{"and", "or", "yes", "no", "on", "off", "he", "she"}, strings.ToLower(w))
	}
	return said(left) && said(right)
}

// isPlainWord reports whether s consists of letters, with a capital at most at its start.
func isPlainWord(s string) bool {
	for i, r := range s {
		if !unicode.IsLetter(r) || i > 0 && unicode.IsUpper(r) {
			return false
		}
	}
	return s != ""
}

// isUpperWord reports whether s is a word of at least five capitals, such as ENOENT.
func isUpperWord(s string) bool {
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return len(s) >= 5
}

// isIdentifier reports whether a token without digits and slashes is an identifier of a program.
func isIdentifier(c string) bool {
	if strings.HasPrefix(c, "-") || strings.ContainsAny(c, "_$@#~=&?") {
		return strings.ContainsFunc(c, unicode.IsLetter)
	}
	if strings.HasPrefix(c, ".") {
		return true
	}
	if i := strings.IndexByte(c, '.'); i > 0 && i+1 < len(c) {
		return !slices.Contains([]string{"e.g", "i.e", "z.b", "u.s", "a.k.a"}, strings.ToLower(c))
	}
	lower := false
	for _, r := range c {
		if unicode.IsUpper(r) && lower {
			return true
		}
		lower = unicode.IsLower(r)
	}
	return false
}

// quantity reports whether a word is one for a number or an amount, and returns the number, "" for an amount.
func quantity(word string) (number string, ok bool) {
	switch word {
	case "both":
		return "2", true
	case "all", "every", "each", "none", "never", "always", "only":
		return "", true
	}
	n := slices.Index(numberWords[:], word)
	return strconv.Itoa(n + 1), n > 0
}

// numberWords are the words for the numbers from 1. The first one is seldom a number.
var numberWords = [...]string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}

// Quantities returns the words of text for numbers and amounts, such as five, both and all, for which source has neither
// the word nor the number.
func Quantities(text, source string) []string {
	x := NewSource(source)
	var bad []string
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		n, ok := quantity(word)
		if ok && !containsWord(x.lower, word) && (n == "" || !x.numbers[n]) && !slices.Contains(bad, word) {
			bad = append(bad, word)
		}
	}
	return bad
}
