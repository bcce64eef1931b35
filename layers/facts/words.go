package facts

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// A wording is a text split into words for comparison.
type wording struct {
	words []word
	stems map[string]bool
	names []word // with a capital, not at the start of a sentence
}

// A word is one word of a text, or two neighbouring characters of a script without spaces.
type word struct {
	text     string // as written
	stem     string
	clause   int
	negated  bool // a negation precedes it in its clause
	negation bool // it is a negation
	weak     bool // it is a weak negation: "avoid", "missing"
	content  bool // it is a content word
}

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
		if isCapitalised(s) && !start && x.content && !x.negation {
			w.names = append(w.names, x)
		}
		if clauseStarts()[strings.ToLower(s)] {
			clause++
			x.clause = clause
		}
		w.words, start = append(w.words, x), false
	})
	w.markNegated()
	for _, x := range w.words {
		w.stems[x.stem] = true
		for _, part := range subwords(x.text) {
			w.stems[stem(part)] = true
		}
	}
	return w
}

func wordOf(s string, clause int) word {
	lower := strings.ReplaceAll(strings.ToLower(s), "’", "'")
	x := word{text: s, clause: clause}
	x.negation = negations()[lower] || strings.HasSuffix(lower, "n't") || isChineseNegation(lower)
	lower = strings.TrimSuffix(lower, "'s")
	x.stem = stem(lower)
	x.weak = weakNegations()[x.stem]
	x.content = !x.negation && !stopWords()[lower] && !stopWords()[x.stem]
	return x
}

// isChineseNegation reports whether a pair of characters begins with "not" or "have not".
func isChineseNegation(s string) bool {
	return (strings.HasPrefix(s, "不") || strings.HasPrefix(s, "没")) && !notNegations()[s]
}

// stem returns the stem of a word in lower case.
func stem(lower string) string {
	if !isASCII(lower) {
		return trimParticle(lower)
	}
	if base, ok := irregular()[lower]; ok {
		lower = base
	}
	if strings.ContainsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return lower
	}
	return english.Stem(lower, false)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// trimParticle removes the most common particles from a Korean word.
func trimParticle(s string) string {
	for _, p := range []string{"에서는", "으로는", "에서", "으로", "에게", "까지", "부터", "처럼", "은", "는", "이", "가", "을", "를", "에", "로",
		"와", "과", "도", "만", "의"} {
		if rest, ok := strings.CutSuffix(s, p); ok && utf8.RuneCountInString(rest) >= 2 {
			return rest
		}
	}
	return s
}

// isCapitalised reports whether a word is written like a name.
func isCapitalised(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r) && len(s) > n
}

// subwords returns the words of an identifier, nil for a plain word.
func subwords(s string) []string {
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

// eachWord calls yield for the words of a text. At the end of a clause it calls it with an empty s and end set, at the
// end of a sentence also with sentence set.
func eachWord(text string, yield func(s string, sentence, end bool)) {
	start := -1
	flush := func(i int) {
		if start >= 0 {
			if s := strings.Trim(text[start:i], "'’-_./"); s != "" { // a lone underscore is no word
				yield(s, false, false)
			}
			start = -1
		}
	}
	var last rune
	for i, size := 0, 0; i < len(text); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(text[i:])
		next, more := utf8.DecodeRuneInString(text[i+size:])
		switch {
		case !usesSpaces(r):
			flush(i)
			if more > 0 && !usesSpaces(next) {
				yield(text[i:i+size+more], false, false)
			}
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
			if start < 0 {
				start = i
			}
		case start >= 0 && strings.ContainsRune("'’-./@:", r) &&
			(unicode.IsLetter(next) || unicode.IsDigit(next) || next == '_'):
		case r == ',' && unicode.IsDigit(last) && unicode.IsDigit(next): // 1,000
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

// has reports whether the text contains a word with that stem, or a synonym.
func (w *wording) has(stem string) bool {
	if w.stems[stem] {
		return true
	}
	for _, s := range synonyms()[stem] {
		if w.stems[s] {
			return true
		}
	}
	if n := len(stem); n >= 6 && isASCII(stem) { // authenticator, authenticate
		for s := range w.stems {
			if len(s) >= 5 && (strings.HasPrefix(stem, s) || strings.HasPrefix(s, stem)) {
				return true
			}
		}
	}
	return false
}

// covered returns how many of the content words of w the source contains, and their total.
func (w *wording) covered(source *wording, ignored map[string]bool) (known, total int) {
	seen := map[string]bool{}
	for _, x := range w.words {
		if !x.content || seen[x.stem] || ignored[x.stem] {
			continue
		}
		seen[x.stem] = true
		total++
		if source.has(x.stem) || source.hasSubwords(x.text) {
			known++
		}
	}
	return known, total
}

// withoutIdentifiers returns w without identifiers, paths and numbers.
func (w *wording) withoutIdentifiers() *wording {
	out := &wording{}
	for _, x := range w.words {
		if subwords(x.text) == nil && !strings.ContainsFunc(x.text, unicode.IsDigit) {
			out.words = append(out.words, x)
		}
	}
	return out
}

// subject returns the name at the start of a sentence if a verb follows it.
func (w *wording) subject() (word, bool) {
	if len(w.words) < 2 || !isCapitalised(w.words[0].text) || !w.words[0].content {
		return word{}, false
	}
	next := strings.ToLower(w.words[1].text)
	return w.words[0], slices.Contains(speakerVerbs(), next) ||
		slices.Contains([]string{"is", "are", "were", "have", "can", "must"}, next)
}

// hasSubwords reports whether the text contains all words of an identifier.
func (w *wording) hasSubwords(s string) bool {
	list := subwords(s)
	for _, p := range list {
		if !w.has(stem(p)) {
			return false
		}
	}
	return len(list) > 0
}
