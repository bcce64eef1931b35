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

// Brief returns a text of one line, or of a long one the beginning up to the end of a clause.
func Brief(s string) string {
	const short, long = 10, 80 // bytes
	if len(s) <= long {
		return s
	}
	closed := func(s string) bool { // code, quotations and brackets end in it
		return strings.Count(s, "`")%2 == 0 && strings.Count(s, `"`)%2 == 0 && strings.Count(s, "(") == strings.Count(s, ")")
	}
	at := 0
	for _, end := range []string{", ", "; ", ": ", " - ", " — ", " – ", " → ", " ("} {
		for k := strings.LastIndex(s[:long], end); k > max(at, short); k = strings.LastIndex(s[:k], end) {
			if closed(s[:k]) {
				at = k
			}
		}
	}
	if at > 0 {
		return s[:at]
	}
	if s = Clip(s, long); strings.Count(s, "`")%2 != 0 {
		s = strings.ReplaceAll(s, "`", "")
	}
	return s
}
