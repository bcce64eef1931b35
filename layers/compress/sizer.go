package compress

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/tokens"
)

// A sizer counts segments and remembers what it has counted: most of them come again, in the next round or the other
// form. The tokens of a text are those of its parts where a line ends and the next begins with something that no
// token takes together with a line end.
type sizer map[string]int32

// size is the plain tokens of segments, the larger of the two forms they are shown in.
func (z sizer) size(segs []Segment) int {
	text, page := z.both(segs)
	return max(text, page)
}

// both returns the plain tokens of [Text] and [Markdown] of segments.
func (z sizer) both(segs []Segment) (text, page int) {
	texts, pages := make([]string, 0, len(segs)), make([]string, 0, len(segs))
	var b strings.Builder
	for i, s := range segs {
		b.Reset()
		s.write(&b)
		part := b.String()
		if n := len(texts); n > 0 && sticky(part) {
			texts[n-1] += part
			pages[n-1] += part
		} else {
			texts, pages = append(texts, part), append(pages, part)
		}
		if i < len(segs)-1 {
			pages[len(pages)-1] += "\n"
		}
	}
	texts, pages = pieces(texts), pieces(pages)
	z.count(texts, pages)
	for _, p := range texts {
		text += int(z[p])
	}
	for _, p := range pages {
		page += int(z[p])
	}
	return text, page
}

// long is the length from which on a part is counted in pieces: of a message of megabytes only what has changed is
// counted again.
const long = 2 << 10

// pieces takes long parts apart where a line or a sentence ends that no token goes over.
func pieces(parts []string) []string {
	if !slices.ContainsFunc(parts, func(s string) bool { return len(s) > long }) {
		return parts
	}
	out := make([]string, 0, 2*len(parts))
	for _, s := range parts {
		if len(s) > long {
			from := 0
			for i := 1; i+1 < len(s); i++ {
				if s[i-1] == '\n' && !sticky(s[i:]) || s[i] == ' ' && strings.IndexByte(".!?", s[i-1]) >= 0 && isLetter(s[i+1]) {
					out, from = append(out, s[from:i]), i
				}
			}
			s = s[from:]
		}
		out = append(out, s)
	}
	return out
}

func isLetter(c byte) bool { return isUpper(c) || isLower(c) }

// count counts the parts that are not known yet.
func (z sizer) count(lists ...[]string) {
	var fresh []string
	for _, list := range lists {
		for _, p := range list {
			if _, ok := z[p]; !ok {
				z[p] = 0
				fresh = append(fresh, p)
			}
		}
	}
	counts := make([]int32, len(fresh))
	parallel(len(fresh), func(i int) { counts[i] = int32(tokens.Raw(fresh[i])) })
	for i, p := range fresh {
		z[p] = counts[i]
	}
}

// sticky reports whether a token may hold a line end and the beginning of s.
func sticky(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '/' || unicode.IsSpace(r) || unicode.In(r, unicode.Z)
}
