package version

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/tokens"
)

// A Sizer counts the plain tokens of segments, and remembers those of lines: most of them come again in the next round.
// The tokens of a text are those of its parts where a line ends and the next begins with something that no token takes
// together with a line end.
type Sizer map[string]int

// Size returns the plain tokens of [Text] of segments.
func (z Sizer) Size(segs []Segment) (sum int) {
	text := Text(segs)
	from := 0
	for i := 1; i <= len(text); i++ {
		if i < len(text) && (text[i-1] != '\n' || sticky(text[i:])) {
			continue
		}
		n, known := z[text[from:i]]
		if !known {
			n = tokens.Raw(text[from:i])
			z[strings.Clone(text[from:i])] = n
		}
		sum, from = sum+n, i
	}
	return sum
}

// sticky reports whether a token may hold a line end and the beginning of s.
func sticky(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '/' || unicode.IsSpace(r) || unicode.In(r, unicode.Z)
}
