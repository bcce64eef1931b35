package facts

import (
	"slices"
	"strings"
	"unicode"
)

// Names returns the names in a fact, in lower case: the identifiers of its text, and its files without their directories.
func (f Fact) Names() (out []string) {
	put := func(s string) {
		if s = strings.ToLower(s); len(s) > 3 && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, file := range f.Files {
		put(file[strings.LastIndexAny(file, `/\`)+1:])
	}
	for _, w := range strings.FieldsFunc(f.Text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_./-", r)
	}) {
		if w = strings.Trim(w, "./-"); isName(w) {
			put(w[strings.LastIndexByte(w, '/')+1:])
		}
	}
	return out
}

// isName reports whether a word is an identifier or the name of a file: it has a mark inside, a digit after letters, or
// capitals inside.
func isName(w string) bool {
	inside := strings.Trim(w, "_")
	if strings.ContainsAny(inside, "_./") {
		return true
	}
	lower := false
	for _, r := range w {
		if unicode.IsUpper(r) && lower {
			return true
		}
		lower = unicode.IsLower(r)
	}
	return false
}
