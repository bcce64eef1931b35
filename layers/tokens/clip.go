package tokens

import (
	"strings"
	"unicode/utf8"
)

// Clip joins the lines of s and cuts it to at most n bytes, between words where there is a place.
func Clip(s string, n int) string {
	s = strings.Join(strings.Fields(cut(s, 4*n)), " ")
	if len(s) <= n {
		return s
	}
	s = cut(s, n)
	if k := strings.LastIndexByte(s, ' '); k > n*3/4 {
		s = s[:k]
	}
	return s + "…"
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
