package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// A Span is a part of a value that will be cut, with the rule that found it. Quote reports that the placeholder must
// be quoted.
type Span struct {
	Start, End int
	Rule       string
	Quote      bool
}

// merge sorts spans and joins overlapping ones. The rule of the longest part becomes the rule of the whole.
func merge(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), compareRules(a.Rule, b.Rule))
	})
	out := spans[:0]
	longest := 0
	for _, s := range spans {
		n := len(out)
		if n == 0 || s.Start >= out[n-1].End {
			out, longest = append(out, s), s.End-s.Start
			continue
		}
		if s.End-s.Start > longest {
			longest, out[n-1].Rule = s.End-s.Start, s.Rule
		}
		out[n-1].End = max(out[n-1].End, s.End)
	}
	return out
}

// Size returns the total length of the spans.
func Size(spans []Span) (n int) {
	for _, s := range spans {
		n += s.End - s.Start
	}
	return n
}

// without returns spans minus holes. Both must be sorted and must not overlap.
func without(spans, holes []Span) []Span {
	if len(holes) == 0 {
		return spans
	}
	var out []Span
	for _, s := range spans {
		for len(holes) > 0 && holes[0].End <= s.Start {
			holes = holes[1:]
		}
		for _, h := range holes {
			if h.Start >= s.End {
				break
			}
			if h.Start > s.Start {
				out = append(out, Span{s.Start, h.Start, s.Rule, s.Quote})
			}
			s.Start = min(h.End, s.End)
		}
		if s.Start < s.End {
			out = append(out, s)
		}
	}
	return out
}

// places are the parts of a value that may be cut, sorted and without overlap.
type places struct {
	List []Place
	Json bool // the value is JSON: a backslash starts an escape
}

// A Place is the content of a JSON string, a whole number, or a line of text that is not JSON.
type Place struct {
	Start, End int
	Number     bool
}

// safePlaces returns the parts of value that may be cut. part means that it is a part of a JSON value.
func safePlaces(value []byte, part bool) places {
	if !part && !json.Valid(value) {
		return textPlaces(value)
	}
	p := places{Json: true}
	for i := 0; i < len(value); {
		switch c := value[i]; {
		case c == '"':
			end, closed := endOfString(value, i+1)
			if !closed {
				return textPlaces(value)
			}
			p.List = append(p.List, Place{i + 1, end, false})
			i = end + 1
		case c == '-' || '0' <= c && c <= '9':
			end := i + 1
			for end < len(value) && bytes.IndexByte([]byte("0123456789+-.eE"), value[end]) >= 0 {
				end++
			}
			p.List = append(p.List, Place{i, end, true})
			i = end
		case outside.Has(c) || bytes.IndexByte([]byte("{}[],: \t\r\n"), c) >= 0:
			i++
		default:
			return textPlaces(value)
		}
	}
	return p
}

// textPlaces returns each line of value, without its line end, as a place.
func textPlaces(value []byte) (p places) {
	start := 0
	for i, c := range value {
		if c == '\n' {
			p.List = append(p.List, Place{start, i, false})
			start = i + 1
		}
	}
	p.List = append(p.List, Place{start, len(value), false})
	return p
}

// Clip restricts found to the places and extends the rest to whole characters, whole escapes and whole numbers. found
// must be sorted and must not overlap; neither does the result.
func (p places) Clip(value []byte, found []Span) []Span {
	var out []Span
	list, at := p.List, 0 // at is the start of a character
	for _, f := range found {
		for len(list) > 0 && list[0].End <= f.Start {
			list = list[1:]
		}
		for _, q := range list {
			if q.Start >= f.End {
				break
			}
			if q.Start == q.End {
				continue
			}
			at = max(at, q.Start)
			var s Span
			s, at = p.fit(value, q, f, at)
			out = append(out, s)
		}
	}
	return merge(out)
}

// fit returns the part of f in q, extended as in Clip, and the start of its last character. at is the start of a
// character in q, at or before f.
func (p places) fit(value []byte, q Place, f Span, at int) (Span, int) {
	if q.Number {
		return Span{q.Start, q.End, f.Rule, true}, q.Start
	}
	s := Span{max(f.Start, q.Start), min(f.End, q.End), f.Rule, false}
	next := at + p.character(value[at:q.End])
	for next <= s.Start {
		at, next = next, next+p.character(value[next:q.End])
	}
	s.Start = at
	for next < s.End {
		at, next = next, next+p.character(value[next:q.End])
	}
	s.End = next
	return s, at
}

// character returns the length of the first character of b: an escape, a surrogate pair of two escapes, or a UTF-8
// sequence.
func (p places) character(b []byte) int {
	if p.Json && b[0] == '\\' {
		_, n := Unescape(b)
		return n
	}
	_, n := utf8.DecodeRune(b)
	return n
}
