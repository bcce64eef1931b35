package trace

import (
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// spaceless reports whether a character makes words without spaces between them: Han, Kana or Hangul.
func spaceless(r rune) bool {
	return r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー')
}

// eachTerm yields the words of text in order, in lower case; runs of Han, Kana or Hangul give pairs of
// characters, which are no words.
func eachTerm(text string, yield func(s string, word bool)) {
	for run := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '_' && r != 'ー' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		for run != "" {
			first, _ := utf8.DecodeRuneInString(run)
			k := strings.IndexFunc(run, func(r rune) bool { return spaceless(r) != spaceless(first) })
			if k < 0 {
				k = len(run)
			}
			part := run[:k]
			run = run[k:]
			if spaceless(first) {
				eachPair(part, yield)
			} else if part = strings.Trim(part, "_"); part != "" && len(part) <= 64 {
				yield(strings.ToLower(part), true)
			}
		}
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

var (
	tickSpan = pattern("`([^`\n]{2,60})`")
	nameRun  = pattern(`[\w./@#-]{3,}`) // what a path, a symbol or an id is made of
	aFile    = pattern(`^\.[a-z]{3,}$|^.+\.[a-z][a-z0-9]{0,4}$`)
	aSymbol  = pattern(`^\w*(?:[^\W_]_[^\W_]|[a-z][A-Z]|[A-Z]{2}[a-z])\w*$`)
	aHash    = pattern(`^[a-f]*\d[0-9a-f]*$`)
	aNumber  = pattern(`^(?:#\d+|\d{3,})$`)
)

// eachName yields the anchors of text: base names of paths, symbols in camelCase or snake_case, hashes, numbers
// of issues or of three digits or more, and short spans in back-ticks.
func eachName(text string, yield func(string)) {
	give := func(a string) {
		if a = strings.Trim(a, "`.,:;()[]{}\"'*"); len(a) >= 3 && len(a) <= 60 {
			yield(a)
		}
	}
	if strings.Contains(text, "`") {
		for _, m := range tickSpan().FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "/") && !strings.Contains(m[1], " ") {
				m[1] = path.Base(m[1])
			}
			give(m[1])
		}
	}
	for _, c := range nameRun().FindAllString(text, -1) {
		c = strings.TrimRight(c, ".-/#@")
		if base := c[strings.LastIndexByte(c, '/')+1:]; fileName(base) {
			give(base)
			continue
		}
		for part := range strings.FieldsFuncSeq(c, func(r rune) bool { return strings.ContainsRune("/@.-", r) }) {
			if symbol(part) || len(part) >= 7 && len(part) <= 40 && aHash().MatchString(part) || aNumber().MatchString(part) {
				give(part)
			}
		}
	}
}

// fileName reports whether s looks like a file name: a name and an extension of one to five letters.
func fileName(s string) bool {
	return len(s) >= 4 && strings.Contains(s, ".") && aFile().MatchString(s)
}

// symbol reports whether s is in camelCase, PascalCase with a second capital, or snake_case.
func symbol(s string) bool { return len(s) >= 3 && aSymbol().MatchString(s) }

// pattern returns a regular expression that is compiled when it is first used.
func pattern(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}
