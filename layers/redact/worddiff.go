package redact

import (
	"bytes"
)

// wordDiff finds the values after the name that ends at end in the output of a word diff: [-old-]{+new+}, two
// colours, or two lines with signs. It reports whether there are any.
func (s *Scan) wordDiff(kind string, end int) bool {
	text := s.Text
	i, _, _ := skipClosers(text, end)
	i += spaces(text[i:])
	op := i
	for i < len(text) && i < op+3 && (text[i] == '=' || text[i] == ':' || text[i] == '>') {
		i++
	}
	if i == op {
		return false
	}
	i += spaces(text[i:])
	if Newline(text[i:]) > 0 {
		return s.signedDiff(kind, i)
	}
	q := i
	for q < len(text) && q < i+4 && (Quote(text[q]) || text[q] == '\\') {
		q++
	}
	return s.markedDiff(kind, q)
}

// markedDiff finds the values of [-old-]{+new+} at i.
func (s *Scan) markedDiff(kind string, i int) (any bool) {
	text := s.Text
	for _, mark := range [...][2]string{{"[-", "-]"}, {"{+", "+}"}} {
		if !bytes.HasPrefix(text[i:], []byte(mark[0])) {
			continue
		}
		from := i + len(mark[0])
		n := bytes.Index(text[from:min(len(text), from+maxValue)], []byte(mark[1]))
		if n < 0 || bytes.IndexByte(text[from:from+n], '\n') >= 0 {
			return any
		}
		v := trimCell(text, from, from+n)
		for v.End > v.Start && bytes.IndexByte([]byte(",;\"'\\"), text[v.End-1]) >= 0 {
			v.End--
		}
		if Plausible(kind, text[v.Start:v.End], Line) {
			s.found(v.Start, v.End, kind)
		}
		any, i = true, from+n+len(mark[1])
	}
	return any
}

// signedDiff finds the values on the next lines after i, each after a sign. It stops at a line without one.
func (s *Scan) signedDiff(kind string, i int) (any bool) {
	text := s.Text
	for range 2 {
		n := Newline(text[i:])
		if n == 0 || i+n >= len(text) || text[i+n] != '-' && text[i+n] != '+' {
			return any
		}
		from := i + n + 1
		n = lineRun(text[from:])
		if v := trimCell(text, from, from+n); n > 0 && endsLine(text[from+n:]) &&
			Plausible(kind, text[v.Start:v.End], Line) {
			s.found(v.Start, v.End, kind)
			any = true
		}
		i = from + n
	}
	return any
}

// lineRun returns the length of the text without blanks at the start of text, up to the end of its line.
func lineRun(text []byte) int {
	n := visibleLine.Run(text, maxValue)
	if k := bytes.Index(text[:n], []byte(`\n`)); k >= 0 {
		n = k
	}
	return n
}

// replacement finds the value that replaces the one ending at end: in another colour directly after it, or after an
// arrow.
func (s *Scan) replacement(kind string, end int) {
	text := s.Text
	i := end
	if n := colour(text[i:]); n > 0 {
		i += n
		if n = lineRun(text[i:]); n > 0 && Plausible(kind, text[i:i+n], Line) {
			s.found(i, i+n, kind)
		}
		return
	}
	for i < len(text) && i < end+4 && (Quote(text[i]) || text[i] == '\\') {
		i++
	}
	if n := spaces(text[i:]); n > 0 && i > end && bytes.HasPrefix(text[i+n:], []byte("-> ")) {
		if v, st, ok := s.literal(i + n + len("-> ")); ok && Plausible(kind, text[v.Start:v.End], st) {
			s.found(v.Start, v.End, kind)
		}
	}
}
