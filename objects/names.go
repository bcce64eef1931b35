package objects

import (
	"iter"
	"strings"
)

// NamesIn yields the offset and the text of each hash in a text.
func NamesIn(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		run := 0
		for i := 0; i <= len(text); i++ {
			if i < len(text) && IsDigit(text[i]) {
				run++
				continue
			}
			if run == 2*Size && !yield(i-run, text[i-run:i]) {
				return
			}
			run = 0
		}
	}
}

// Rename replaces each hash in a text that is a key of names.
func Rename(text string, names map[string]string) string {
	var b strings.Builder
	at := 0
	for i, name := range NamesIn(text) {
		if now, ok := names[name]; ok {
			b.WriteString(text[at:i] + now)
			at = i + len(name)
		}
	}
	return b.String() + text[at:]
}

// IsDigit reports whether c is a digit of a hash.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }
