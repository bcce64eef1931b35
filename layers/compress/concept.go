package compress

import (
	"path"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// script tells apart the runs of text that make words.
type script uint8

const (
	none script = iota
	alphabet
	han    // Han and Kana
	hangul // Hangul
)

func scriptOf(r rune) script {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return alphabet
		}
		return none
	}
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー':
		return han
	case unicode.Is(unicode.Hangul, r):
		return hangul
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		return alphabet
	}
	return none
}

// eachTerm yields the words of text in order, in lower case; runs of Han, Kana or Hangul give pairs of
// characters, which are no words.
func eachTerm(text string, yield func(s string, word bool)) {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		s := scriptOf(r)
		if s == none {
			i += n
			continue
		}
		j := i + n
		for j < len(text) {
			r, n := utf8.DecodeRuneInString(text[j:])
			if t := scriptOf(r); t != s && (s != alphabet || r != '_') {
				break
			}
			j += n
		}
		run := text[i:j]
		i = j
		if s == alphabet {
			if len(run) <= 64 {
				yield(strings.ToLower(run), true)
			}
			continue
		}
		eachPair(run, yield)
	}
}

func eachPair(run string, yield func(s string, word bool)) {
	a := 0
	_, b := utf8.DecodeRuneInString(run)
	if b == len(run) {
		yield(run, false)
		return
	}
	for b < len(run) {
		_, n := utf8.DecodeRuneInString(run[b:])
		yield(run[a:b+n], false)
		_, first := utf8.DecodeRuneInString(run[a:])
		a, b = a+first, b+n
	}
}

// eachAnchor yields the anchors of text: base names of paths, symbols in camelCase or snake_case, hashes, numbers
// of issues or of three digits or more, and short spans in back-ticks.
func eachAnchor(text string, yield func(string)) {
	give := func(a string) {
		a = strings.Trim(a, "`.,:;()[]{}\"'*")
		if len(a) >= 3 && len(a) <= 60 {
			yield(a)
		}
	}
	for rest := text; ; {
		i := strings.IndexByte(rest, '`')
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		j := strings.IndexAny(rest, "`\n")
		if j < 0 {
			break
		}
		if span := rest[:j]; rest[j] == '`' && j >= 2 && j <= 60 {
			if strings.Contains(span, "/") && !strings.Contains(span, " ") {
				span = path.Base(span)
			}
			give(span)
		}
		rest = rest[j+1:]
	}
	eachChunk(text, func(c string) { chunkAnchors(c, give) })
}

// eachChunk yields the runs of chunkByte bytes that are neither very short nor very long.
func eachChunk(text string, yield func(string)) {
	for i := 0; i < len(text); {
		if !chunkByte[text[i]] {
			i++
			continue
		}
		j := i + 1
		for j < len(text) && chunkByte[text[j]] {
			j++
		}
		if j-i >= 3 && j-i <= 240 {
			yield(text[i:j])
		}
		i = j
	}
}

// chunkByte marks the bytes a path, a symbol or an id is made of.
var chunkByte = func() (t [256]bool) {
	for c := range utf8.RuneSelf {
		t[c] = scriptOf(rune(c)) == alphabet || strings.IndexByte("_./@-#", byte(c)) >= 0
	}
	return t
}()

// chunkAnchors yields the anchors of one run of chunkByte bytes.
func chunkAnchors(c string, give func(string)) {
	c = strings.TrimRight(c, ".-/#@")
	if base := c[strings.LastIndexByte(c, '/')+1:]; fileName(base) {
		give(base)
		return
	}
	for part := range strings.FieldsFuncSeq(c, func(r rune) bool { return strings.ContainsRune("/@.-", r) }) {
		if symbol(part) || hash(part) || number(part) {
			give(part)
		}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

// fileName reports whether s looks like a file name: a name and an extension of one to five letters.
func fileName(s string) bool {
	k := strings.LastIndexByte(s, '.')
	if k == 0 && len(s) >= 4 {
		return strings.Trim(s[1:], "abcdefghijklmnopqrstuvwxyz") == "" // .gitignore
	}
	if k <= 0 || len(s) < 4 || len(s)-k < 2 || len(s)-k > 6 {
		return false
	}
	letters := 0
	for _, c := range []byte(s[k+1:]) {
		if isLower(c) {
			letters++
		} else if !isDigit(c) {
			return false
		}
	}
	return letters > 0 && !isDigit(s[k+1])
}

// symbol reports whether s is in camelCase, PascalCase with a second capital, or snake_case.
func symbol(s string) bool {
	lower, humps, under := false, 0, false
	for i := range len(s) {
		switch c := s[i]; {
		case c == '_':
			under = under || i > 0 && i+1 < len(s)
		case isUpper(c):
			if i > 0 && s[i-1] != '_' && !isUpper(s[i-1]) {
				humps++
			}
		case isLower(c):
			lower = true
			if i >= 2 && isUpper(s[i-1]) && isUpper(s[i-2]) {
				humps++
			}
		case !isDigit(c):
			return false
		}
	}
	return len(s) >= 3 && (under || lower && humps > 0)
}

func hash(s string) bool {
	if len(s) < 7 || len(s) > 40 {
		return false
	}
	digits := 0
	for i := range len(s) {
		switch {
		case isDigit(s[i]):
			digits++
		case s[i] < 'a' || s[i] > 'f':
			return false
		}
	}
	return digits > 0
}

// number reports whether s is a number of three digits or more, or that of an issue.
func number(s string) bool {
	digits := strings.TrimPrefix(s, "#")
	return (len(digits) > 2 || len(digits) > 0 && digits != s) && strings.Trim(digits, "0123456789") == ""
}

// set returns the words of a list.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

var stopWords = sync.OnceValue(func() map[string]bool { return set(stopList) })

const stopList = `a about above after again against all am an and any are as at be because been before being below between both but by can cannot could
	did do does doing down during each few for from further had has have having he her here hers him his how i if in into is it its itself just
	let me more most my no nor not now of off on once only or other our ours out over own same she should so some such than that the their theirs them
	then there these they this those through to too under until up very was we were what when where which while who whom why will with would you your
	yours s t don re ve ll m d isn aren wasn weren doesn didn won wouldn couldn shouldn hasn haven hadn also really okay ok oh hey hi yeah im ive id
	thats dont didnt doesnt cant youre theres whats like us`
