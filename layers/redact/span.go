package redact

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"
)

// A span is a stretch of a value that is to be cut, with the rule that found it. quote says that
// the placeholder needs quotes of its own.
type span struct {
	start, end int
	rule       string
	quote      bool
}

// merge sorts spans and joins those that overlap. The rule of the longest part names the whole.
func merge(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), compareRules(a.rule, b.rule))
	})
	out := spans[:0]
	longest := 0
	for _, s := range spans {
		n := len(out)
		if n == 0 || s.start >= out[n-1].end {
			out, longest = append(out, s), s.end-s.start
			continue
		}
		if s.end-s.start > longest {
			longest, out[n-1].rule = s.end-s.start, s.rule
		}
		out[n-1].end = max(out[n-1].end, s.end)
	}
	return out
}

// size returns how many bytes the spans cover.
func size(spans []span) (n int) {
	for _, s := range spans {
		n += s.end - s.start
	}
	return n
}

// without returns spans less holes; both are in order and apart.
func without(spans, holes []span) []span {
	if len(holes) == 0 {
		return spans
	}
	var out []span
	for _, s := range spans {
		for len(holes) > 0 && holes[0].end <= s.start {
			holes = holes[1:]
		}
		for _, h := range holes {
			if h.start >= s.end {
				break
			}
			if h.start > s.start {
				out = append(out, span{s.start, h.start, s.rule, s.quote})
			}
			s.start = min(h.end, s.end)
		}
		if s.start < s.end {
			out = append(out, s)
		}
	}
	return out
}

// places are the stretches of a value that may be cut, in order and apart.
type places struct {
	list []place
	json bool // the value is JSON: a backslash starts an escape
}

// A place is the inside of a JSON string, a whole number, or a line of what is no JSON.
type place struct {
	start, end int
	number     bool
}

// safePlaces finds where value may be cut.
func safePlaces(value []byte) places {
	if !valid(value) {
		return textPlaces(value)
	}
	p := places{json: true}
	for i := 0; i < len(value); {
		switch c := value[i]; {
		case c == '"':
			end := stringEnd(value, i+1)
			p.list = append(p.list, place{i + 1, end, false})
			i = end + 1
		case c == '-' || '0' <= c && c <= '9':
			end := i + 1
			for end < len(value) && bytes.IndexByte([]byte("0123456789+-.eE"), value[end]) >= 0 {
				end++
			}
			p.list = append(p.list, place{i, end, true})
			i = end
		default:
			i++
		}
	}
	return p
}

// textPlaces takes each line without its end as a place.
func textPlaces(value []byte) (p places) {
	start := 0
	for i, c := range value {
		if c == '\n' {
			p.list = append(p.list, place{start, i, false})
			start = i + 1
		}
	}
	p.list = append(p.list, place{start, len(value), false})
	return p
}

// stringEnd returns where the closing quote of the string stands whose inside starts at i.
func stringEnd(value []byte, i int) int {
	for value[i] != '"' {
		if value[i] == '\\' {
			i++
		}
		i++
	}
	return i
}

// clip cuts found down to the places and widens what is left to whole characters and escapes,
// numbers to the whole number. found must be in order and apart; so is the result.
func (p places) clip(value []byte, found []span) []span {
	var out []span
	list, at := p.list, 0 // at is the start of a character
	for _, f := range found {
		for len(list) > 0 && list[0].end <= f.start {
			list = list[1:]
		}
		for _, q := range list {
			if q.start >= f.end {
				break
			}
			if q.start == q.end {
				continue
			}
			at = max(at, q.start)
			var s span
			s, at = p.fit(value, q, f, at)
			out = append(out, s)
		}
	}
	return merge(out)
}

// fit returns the part of f in q, made safe, and the start of its last character. at is the start of
// a character in q, at or before f.
func (p places) fit(value []byte, q place, f span, at int) (span, int) {
	if q.number {
		return span{q.start, q.end, f.rule, true}, q.start
	}
	s := span{max(f.start, q.start), min(f.end, q.end), f.rule, false}
	next := at + p.character(value[at:q.end])
	for next <= s.start {
		at, next = next, next+p.character(value[next:q.end])
	}
	s.start = at
	for next < s.end {
		at, next = next, next+p.character(value[next:q.end])
	}
	s.end = next
	return s, at
}

// character returns the length of the first character of b: an escape, a surrogate pair of two
// escapes, or the bytes of a rune.
func (p places) character(b []byte) int {
	if p.json && b[0] == '\\' {
		return escape(b)
	}
	_, n := utf8.DecodeRune(b)
	return n
}

// escape returns the length of the escape in front of b, which is inside of a valid JSON string.
func escape(b []byte) int {
	if b[1] != 'u' {
		return 2
	}
	if len(b) >= 12 && surrogate(b[:6], "89ab") && surrogate(b[6:12], "cdef") {
		return 12
	}
	return 6
}

// surrogate reports whether the escape \uXXXX is a surrogate whose third digit is one of digits.
func surrogate(b []byte, digits string) bool {
	b = bytes.ToLower(b)
	return b[0] == '\\' && b[1] == 'u' && b[2] == 'd' && bytes.IndexByte([]byte(digits), b[3]) >= 0
}
