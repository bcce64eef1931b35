package facts

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// A wording is a text as its words are compared: by stem, each with what is known of it.
type wording struct {
	words []word
	stems map[string]bool
	names []word // with a capital, not at the start of a sentence
}

// A word is one word of a text, or two neighbouring characters of a script without spaces.
type word struct {
	text    string // as it is written
	stem    string
	clause  int
	denied  bool // a negation stands before it in its clause
	denies  bool // it is one
	weak    bool // it is one only in the widest sense: "avoid", "missing"
	content bool // it tells what the text is about
}

// newWording reads a text.
func newWording(text string) *wording {
	w := &wording{stems: map[string]bool{}}
	clause, start := 0, true
	eachWord(text, func(s string, sentence, end bool) {
		if sentence {
			start = true
		}
		if end {
			clause++
			return
		}
		x := wordOf(s, clause)
		if capital(s) && !start && x.content && !x.denies {
			w.names = append(w.names, x)
		}
		if breaks()[strings.ToLower(s)] {
			clause++
			x.clause = clause
		}
		w.words, start = append(w.words, x), false
	})
	w.deny()
	for _, x := range w.words {
		w.stems[x.stem] = true
		for _, part := range parts(x.text) {
			w.stems[stem(part)] = true
		}
	}
	return w
}

func wordOf(s string, clause int) word {
	lower := strings.ReplaceAll(strings.ToLower(s), "’", "'")
	x := word{text: s, clause: clause}
	x.denies = denials()[lower] || strings.HasSuffix(lower, "n't")
	lower = strings.TrimSuffix(lower, "'s")
	x.stem = stem(lower)
	x.weak = weakDenials()[x.stem]
	x.content = !x.denies && !common()[lower] && !common()[x.stem]
	return x
}

// stem returns what the forms of a word have in common.
func stem(lower string) string {
	if !ascii(lower) {
		return hangul(lower)
	}
	if base, ok := irregular()[lower]; ok {
		lower = base
	}
	if strings.ContainsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return lower
	}
	return english.Stem(lower, false)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// hangul takes the commonest particles off a Korean word.
func hangul(s string) string {
	for _, p := range []string{"에서는", "으로는", "에서", "으로", "에게", "까지", "부터", "처럼", "은", "는", "이", "가", "을", "를", "에", "로",
		"와", "과", "도", "만", "의"} {
		if rest, ok := strings.CutSuffix(s, p); ok && utf8.RuneCountInString(rest) >= 2 {
			return rest
		}
	}
	return s
}

// capital reports whether a word is written as a name.
func capital(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r) && len(s) > n
}

// parts returns the words that an identifier is made of, none if it is a plain word.
func parts(s string) []string {
	var out []string
	start := 0
	add := func(end int) {
		if end-start > 1 {
			out = append(out, strings.ToLower(s[start:end]))
		}
	}
	var before rune
	for i, r := range s {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			add(i)
			start = i + utf8.RuneLen(r)
		case unicode.IsUpper(r) && unicode.IsLower(before):
			add(i)
			start = i
		}
		before = r
	}
	if start == 0 {
		return nil
	}
	add(len(s))
	return out
}

// eachWord yields the words of a text. End marks the end of a clause, sentence that of a sentence too; then s is empty.
func eachWord(text string, yield func(s string, sentence, end bool)) {
	start := -1
	flush := func(i int) {
		if start >= 0 {
			yield(strings.Trim(text[start:i], "'’-_./"), false, false)
			start = -1
		}
	}
	var last rune
	for i, size := 0, 0; i < len(text); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(text[i:])
		next, more := utf8.DecodeRuneInString(text[i+size:])
		switch {
		case !spaced(r):
			flush(i)
			if more > 0 && !spaced(next) {
				yield(text[i:i+size+more], false, false)
			}
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
			if start < 0 {
				start = i
			}
		case start >= 0 && strings.ContainsRune("'’-./@:", r) &&
			(unicode.IsLetter(next) || unicode.IsDigit(next) || next == '_'):
		default:
			flush(i)
			switch {
			case strings.ContainsRune(".!?\n。！？", r):
				yield("", true, true)
			case strings.ContainsRune(";:,、，()\"", r), strings.ContainsRune("-–—", r) && last == ' ':
				yield("", false, true)
			}
		}
		last = r
	}
	flush(len(text))
}

// has reports whether the text has a word with that stem, or one that means about the same.
func (w *wording) has(stem string) bool {
	if w.stems[stem] {
		return true
	}
	for _, s := range alike()[stem] {
		if w.stems[s] {
			return true
		}
	}
	if n := len(stem); n >= 6 && ascii(stem) { // application, app; authentication, authenticate
		for s := range w.stems {
			if len(s) >= 5 && (strings.HasPrefix(stem, s) || strings.HasPrefix(s, stem)) {
				return true
			}
		}
	}
	return false
}

// covered returns how many of the words of w that tell what it is about the source has, too, and how many there are.
func (w *wording) covered(source *wording, ignored map[string]bool) (known, total int) {
	seen := map[string]bool{}
	for _, x := range w.words {
		if !x.content || seen[x.stem] || ignored[x.stem] {
			continue
		}
		seen[x.stem] = true
		total++
		if source.has(x.stem) || source.hasParts(x.text) {
			known++
		}
	}
	return known, total
}

// said returns what w says but for the identifiers, paths and numbers that it says it of.
func (w *wording) said() *wording {
	out := &wording{}
	for _, x := range w.words {
		if parts(x.text) == nil && !strings.ContainsFunc(x.text, unicode.IsDigit) {
			out.words = append(out.words, x)
		}
	}
	return out
}

// doer returns the name that a sentence begins with, if it goes on with what somebody or something did or is.
func (w *wording) doer() (word, bool) {
	if len(w.words) < 2 || !capital(w.words[0].text) || !w.words[0].content {
		return word{}, false
	}
	next := strings.ToLower(w.words[1].text)
	return w.words[0], slices.Contains(deeds(), next) ||
		slices.Contains([]string{"is", "are", "were", "have", "can", "must"}, next)
}

// hasParts reports whether the text has all the words that an identifier is made of.
func (w *wording) hasParts(s string) bool {
	list := parts(s)
	for _, p := range list {
		if !w.has(stem(p)) {
			return false
		}
	}
	return len(list) > 0
}
