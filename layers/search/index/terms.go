// This part of the package splits text into the terms of a search index.
//
// A word is a run of letters and digits, in lower case, reduced to its Porter2 stem; stop words have no term. An
// identifier, a path or a number with dots has a term for the whole of it and one for each part, a path also without a number of a line: getUserName is
// "getusername", "get", "user" and "name"; layers/search.go is itself, "search.go" and three words. Runs of Han,
// Kana and Hangul have a term for each pair of neighbouring characters. Texts and queries are split by the same
// code, so a query finds a text by its own words.

package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// Version changes when the terms of the same text change.
const TermsVersion = 3

// numbers are the numbers in words that have the terms of their digits.
var numbers = map[string]string{"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10"}

// maxTerm is the length limit of a term in bytes. Longer runs are data, not words.
const maxTerm = 64

// A Cutter splits texts into terms. It caches stems, so it is for one goroutine. The zero Cutter is ready to use.
type Cutter struct {
	stems map[string]string
	low   []byte
	only  bool
	first [128]bool
}

// Begin restricts c to terms that start with the first byte of term, or with a letter beyond ASCII. Further calls
// allow further first bytes. A stem starts with the first byte of its word, so c need not stem the other words.
func (c *Cutter) Begin(term string) {
	c.only = true
	if b := term[0]; b < utf8.RuneSelf {
		c.first[b] = true
	}
	for word, n := range numbers {
		if n == term {
			c.first[word[0]] = true
		}
	}
}

// skips reports whether [Cutter.Begin] excludes the terms of w.
func (c *Cutter) skips(w string) bool {
	if !c.only || w[0] >= utf8.RuneSelf {
		return false
	}
	b := w[0]
	if upper(b) {
		b += 'a' - 'A'
	}
	return !c.first[b]
}

// maxStems is the number of stems that a Cutter caches.
const maxStems = 1 << 16

// A Term is a term of a text.
type Term struct {
	Text       []byte // valid until the next term
	Start, End int    // byte offsets in the text
	Whole      bool   // a whole identifier: follows its parts and does not count in the length of a text
}

// Each calls yield with the terms of text in order.
func (c *Cutter) Each(text string, yield func(Term)) {
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf {
			if !wordByte[b] {
				i++
				continue
			}
			i = c.compound(text, i, yield)
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case paired(r):
			i = pairs(text, i, yield)
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			i = c.compound(text, i, yield)
		default:
			i += n
		}
	}
}

// wordByte contains the ASCII bytes of words, joins those that connect the words of a compound.
var (
	wordByte = asciiWords()
	joins    = [128]bool{'.': true, '/': true, '-': true, ':': true, '\\': true, '@': true, '#': true}
)

// compound yields the terms of the words at text[i] that only single bytes of joins separate, such as a path, and of
// the whole compound. It returns the index after it.
func (c *Cutter) compound(text string, i int, yield func(Term)) int {
	start, words, base := i, 0, i
	end := i
	for i < len(text) {
		next := wordEnd(text, i)
		if next == i {
			break
		}
		c.word(text, i, next, yield)
		words++
		end, i = next, next
		if i+1 < len(text) && text[i] < utf8.RuneSelf && joins[text[i]] {
			if text[i] == '/' || text[i] == '\\' {
				base = i + 1
			}
			i++
		}
	}
	if words > 1 {
		c.whole(text, start, base, end, yield)
		if bare := withoutLine(text[start:end]); start+bare < end { // a path with the number of a line is the path, too
			c.whole(text, start, base, start+bare, yield)
		}
	}
	return max(end, i)
}

// whole yields the compound text[start:end], and the name text[base:end] in it if that is a compound, too.
func (c *Cutter) whole(text string, start, base, end int, yield func(Term)) {
	if end-start <= maxTerm {
		yield(Term{c.lower(text[start:end]), start, end, true})
	}
	if base > start && base < end && strings.ContainsAny(text[base:end], ".-:@#_") && end-base <= maxTerm {
		yield(Term{c.lower(text[base:end]), base, end, true})
	}
}

// withoutLine returns the length of a path without the numbers of lines behind it: a/b.go:12 or a/b.go:12-14.
func withoutLine(s string) int {
	rest := strings.TrimRight(s, "0123456789")
	if before, ok := strings.CutSuffix(rest, "-"); ok && len(rest) < len(s) {
		if more := strings.TrimRight(before, "0123456789"); len(more) < len(before) {
			rest = more
		}
	}
	path, ok := strings.CutSuffix(rest, ":")
	if !ok || len(rest) == len(s) || path == "" {
		return len(s)
	}
	return len(path)
}

// wordEnd returns the index after the word that starts at text[i]; i if there is none.
func wordEnd(text string, i int) int {
	for i < len(text) {
		if b := text[i]; b < utf8.RuneSelf {
			if !wordByte[b] {
				break
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if paired(r) || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			break
		}
		i += n
	}
	return i
}

// word yields the terms of the parts of a word, then the whole word if there is more than one part.
func (c *Cutter) word(text string, start, end int, yield func(Term)) {
	w := text[start:end]
	if len(w) > 4*maxTerm {
		return
	}
	parts := 0
	for i := 0; i < len(w); {
		end := partEnd(w, i)
		if end > i && w[i] != '_' {
			parts++
			c.plain(w[i:end], start+i, yield)
		}
		i = max(end, i+1)
	}
	if parts > 1 && len(w) <= maxTerm {
		yield(Term{c.lower(w), start, start + len(w), true})
	}
}

// partEnd returns the end of the part of an identifier that starts at w[i]. A part ends before an underscore, before a
// capital that follows a small letter or a digit, and before the last of several capitals if a small letter follows
// it: HTTPServer is HTTP and Server.
func partEnd(w string, i int) int {
	if w[i] == '_' {
		return i + 1
	}
	for j := i + 1; j < len(w); j++ {
		a, b := w[j-1], w[j]
		switch {
		case b == '_':
			return j
		case upper(b) && (lower(a) || digit(a)):
			return j
		case upper(a) && lower(b) && j-1 > i && upper(w[j-2]):
			return j - 1
		}
	}
	return len(w)
}

func upper(b byte) bool { return b >= 'A' && b <= 'Z' }
func lower(b byte) bool { return b >= 'a' && b <= 'z' }
func digit(b byte) bool { return b >= '0' && b <= '9' }

// plain yields the term of a single word, unless it is a stop word.
func (c *Cutter) plain(w string, at int, yield func(Term)) {
	if len(w) > maxTerm || c.skips(w) {
		return
	}
	low := c.lower(w)
	if stopWords[string(low)] {
		return
	}
	if n := numbers[string(low)]; n != "" {
		low = append(low[:0], n...)
	}
	yield(Term{c.stem(low), at, at + len(w), false})
}

// stem returns the stem of a word in lower case.
func (c *Cutter) stem(low []byte) []byte {
	if len(low) < 3 {
		return low
	}
	for _, b := range low {
		if !lower(b) {
			return low
		}
	}
	if s, ok := c.stems[string(low)]; ok {
		return append(c.low[:0], s...)
	}
	if c.stems == nil || len(c.stems) >= maxStems {
		c.stems = map[string]string{}
	}
	w := string(low)
	s := english.Stem(w, false)
	c.stems[w] = s
	return append(c.low[:0], s...)
}

// lower returns s in lower case. The result is valid until the next call.
func (c *Cutter) lower(s string) []byte {
	c.low = c.low[:0]
	for i := 0; i < len(s); {
		b := s[i]
		if b < utf8.RuneSelf {
			if upper(b) {
				b += 'a' - 'A'
			}
			c.low = append(c.low, b)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		c.low = utf8.AppendRune(c.low, unicode.ToLower(r))
		i += n
	}
	return c.low
}

// paired reports whether r is a Han, Kana or Hangul character. These scripts have no blanks between words or have
// changing word endings, so their runs are split into pairs of characters.
func paired(r rune) bool {
	return r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) ||
		r == 'ー' || r == '々')
}

// pairs yields the pairs of neighbouring characters of the run at text[i], or the character of a run of one. It returns
// the index after the run.
func pairs(text string, i int, yield func(Term)) int {
	last, n := -1, 0
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !paired(r) {
			break
		}
		if last >= 0 {
			yield(Term{[]byte(text[last : i+size]), last, i + size, false})
		}
		last = i
		i += size
		n++
	}
	if n == 1 {
		yield(Term{[]byte(text[last:i]), last, i, false})
	}
	return i
}

func asciiWords() (t [128]bool) {
	for b := range t {
		c := byte(b)
		t[b] = upper(c) || lower(c) || digit(c) || c == '_'
	}
	return t
}
