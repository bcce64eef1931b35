package tokens

import (
	"strings"
	"unicode/utf8"
)

// Shorten cuts s to n characters, the last of which is then "…".
func Shorten(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:lastRune(s[:i])] + "…"
		}
	}
	return s
}

// lastRune returns the offset of the last character of s.
func lastRune(s string) int {
	_, size := utf8.DecodeLastRuneInString(s)
	return len(s) - size
}

// OneLine is [Shorten] of the words of s with one space between them. Bytes that are not UTF-8 become U+FFFD.
func OneLine(s string, n int) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(s) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
		if b.Len() > utf8.UTFMax*n {
			break
		}
	}
	return Shorten(string([]rune(b.String())), n)
}
