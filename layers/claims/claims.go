// Package claims finds the checkable terms of a text: paths, numbers, identifiers, flags, and everything in
// back-ticks. An invented term is an invented fact, so each term must occur in the source of the text. Plain words
// are not claims, because a writer may choose them freely.
package claims

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
		rest := withoutBullet(line)
		for rest != "" {
			before, span, after := cutCode(rest)
			eachChunk(before, func(c string) {
				if !x.supports(c) {
					add(c)
				}
			})
			if span != "" && !x.quotes(span) {
				add(span)
			}
			rest = after
		}
	}
	return bad
}

// withoutBullet takes the number of an item off a line: "1. " or "2) ".
func withoutBullet(line string) string {
	trimmed := strings.TrimLeft(line, " \t")
	rest := strings.TrimLeft(trimmed, "0123456789")
	if n := len(trimmed) - len(rest); n == 0 || n > 2 || !strings.HasPrefix(rest, ". ") && !strings.HasPrefix(rest, ") ") {
		return line
	}
	return rest[2:]
}

// cutCode cuts s around its first span in back-ticks.
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

// eachChunk yields the runs of characters that paths, numbers and identifiers are made of. Scripts without spaces
// between words end a chunk.
func eachChunk(s string, yield func(string)) {
	for chunk := range strings.FieldsFuncSeq(s, func(r rune) bool { return !inChunk(r) }) {
		chunk = strings.TrimRight(chunk, ".,:-/\\=&?+~@#*")
		if chunk != "" {
			yield(chunk)
		}
	}
}

func inChunk(r rune) bool {
	if r < utf8.RuneSelf {
		return wordByte(byte(r)) || strings.ContainsRune("./\\-:=&?+~@#$%*,", r)
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Hangul)
}

func wordByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

// A Source is a text to look claims up in.
type Source struct {
	text    string
	lower   string
	numbers map[string]bool
}

// NewSource prepares a text to be looked into.
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
	for i, w := range strings.Fields("one two three four five six seven eight nine ten eleven twelve") {
		if at(x.lower, w) {
			x.numbers[strconv.Itoa(i+1)] = true
		}
	}
	return x
}

// maxNumber is up to where the beginnings of a number count as numbers.
const maxNumber = 256

// eachNumber yields the numbers of s: digits with points between them, separators of thousands taken out. Digits behind
// a letter are part of a name, but in v1.
func eachNumber(s string, yield func(string)) {
	for i := 0; i < len(s); i++ {
		if !digit(s[i]) {
			continue
		}
		j := i
		for j < len(s) && (digit(s[j]) || strings.IndexByte(".,_", s[j]) >= 0 && j+1 < len(s) && digit(s[j+1])) {
			j++
		}
		if i == 0 || !wordByte(s[i-1]) || s[i-1] == 'v' {
			yield(strings.NewReplacer(",", "", "_", "").Replace(s[i:j]))
		}
		i = j
	}
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// has says whether claim stands in the source as a whole word. A capital at its start may be that of a sentence.
func (x Source) has(claim string) bool {
	if at(x.text, claim) {
		return true
	}
	r, n := utf8.DecodeRuneInString(claim)
	return unicode.IsUpper(r) && at(x.text, string(unicode.ToLower(r))+claim[n:])
}

// at says whether word stands in text, with no letter or digit beside it.
func at(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !wordByte(text[i-1]) || !wordByte(word[0])) &&
			(end == len(text) || !wordByte(text[end]) || !wordByte(word[len(word)-1])) {
			return true
		}
		from = i + 1
	}
}

// quotes says whether the source holds what stands in back-ticks: the whole of it, or each of its words.
func (x Source) quotes(span string) bool {
	span = strings.Join(strings.Fields(span), " ")
	if span == "" || x.has(span) {
		return true
	}
	words := strings.FieldsFunc(span, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`"'(){}[],;<>|`, r)
	})
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool {
		return !x.has(w) && !x.supports(w) || plainWord(w) && !x.has(w)
	})
}

// supports says whether the source holds a chunk, as far as that is a claim.
func (x Source) supports(c string) bool {
	c = strings.TrimLeft(strings.TrimRight(c, ",.:"), ",")
	if isNumber(strings.TrimLeft(c, numberSigns)) {
		return x.counts(c)
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
		return x.counts(c)
	case strings.ContainsAny(c, `/\`):
		return x.path(c)
	case shouted(c):
		return at(strings.ToUpper(x.text), c)
	}
	return !identifier(c) || at(x.lower, strings.ToLower(c)) // GitHub, github
}

// counts says whether the source supports a chunk with digits that does not stand in it: a number written in another
// way, a number with a unit, or a range of numbers.
func (x Source) counts(c string) bool {
	c = strings.TrimLeft(c, numberSigns)
	unit := strings.TrimLeft(c, "0123456789.,_")
	number := c[:len(c)-len(unit)]
	if left, right, ok := strings.Cut(c, "-"); ok && isNumber(left) && isNumber(right) {
		return x.counts(left) && x.counts(right)
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

// numberSigns may stand in front of a number.
const numberSigns = "$#~+-"

func isNumber(s string) bool {
	return s != "" && digit(s[0]) && strings.Trim(strings.TrimSuffix(s, "%"), "0123456789.,") == ""
}

// path says whether the source supports a chunk with slashes that does not stand in it. Two plain words with a slash
// between them are no path if both are said.
func (x Source) path(c string) bool {
	c = strings.TrimPrefix(c, "./")
	if x.has(c) {
		return true
	}
	left, right, ok := strings.Cut(c, "/")
	if !ok || !plainWord(left) || !plainWord(right) {
		return false
	}
	said := func(w string) bool {
		return at(x.lower, strings.ToLower(w)) ||
			slices.Contains([]string{"and", "or", "yes", "no", "on", "off", "he", "she"}, strings.ToLower(w))
	}
	return said(left) && said(right)
}

// plainWord says whether s is made of letters alone, with at most a capital at its start.
func plainWord(s string) bool {
	for i, r := range s {
		if !unicode.IsLetter(r) || i > 0 && unicode.IsUpper(r) {
			return false
		}
	}
	return s != ""
}

// shouted says whether s is a word of five capitals or more, such as ENOENT.
func shouted(s string) bool {
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return len(s) >= 5
}

// identifier says whether a chunk without digits and slashes is a name out of a program, not a word.
func identifier(c string) bool {
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
