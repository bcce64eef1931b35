package redact

import "bytes"

// compared finds the values behind the name that ends at end in what a comparison word by word prints: [-old-]{+new+}, the two in
// colours, and each on a line of its own behind its sign. It reports whether there are any.
func (s *scan) compared(kind string, end int) bool {
	text := s.text
	i, _, _ := behind(text, end)
	i += spaces(text[i:])
	op := i
	for i < len(text) && i < op+3 && (text[i] == '=' || text[i] == ':' || text[i] == '>') {
		i++
	}
	if i == op {
		return false
	}
	i += spaces(text[i:])
	if newline(text[i:]) > 0 {
		return s.signed(kind, i)
	}
	q := i
	for q < len(text) && q < i+4 && (quote(text[q]) || text[q] == '\\') {
		q++
	}
	return s.marked(kind, q)
}

// marked finds the values of [-old-]{+new+} at i.
func (s *scan) marked(kind string, i int) (any bool) {
	text := s.text
	for _, mark := range [...][2]string{{"[-", "-]"}, {"{+", "+}"}} {
		if !bytes.HasPrefix(text[i:], []byte(mark[0])) {
			continue
		}
		from := i + len(mark[0])
		n := bytes.Index(text[from:min(len(text), from+maxValue)], []byte(mark[1]))
		if n < 0 || bytes.IndexByte(text[from:from+n], '\n') >= 0 {
			return any
		}
		v := bare(text, from, from+n)
		for v.end > v.start && bytes.IndexByte([]byte(",;\"'\\"), text[v.end-1]) >= 0 {
			v.end--
		}
		if plausible(kind, text[v.start:v.end], line) {
			s.found(v.start, v.end, kind)
		}
		any, i = true, from+n+len(mark[1])
	}
	return any
}

// signed finds the values on the lines behind i, each behind the sign of its side, up to a line that holds a tilde or none of them.
func (s *scan) signed(kind string, i int) (any bool) {
	text := s.text
	for range 2 {
		n := newline(text[i:])
		if n == 0 || i+n >= len(text) || text[i+n] != '-' && text[i+n] != '+' {
			return any
		}
		from := i + n + 1
		n = lineRun(text[from:])
		if v := bare(text, from, from+n); n > 0 && endsLine(text[from+n:]) && plausible(kind, text[v.start:v.end], line) {
			s.found(v.start, v.end, kind)
			any = true
		}
		i = from + n
	}
	return any
}

// lineRun returns the length of what stands in front of text without a blank, up to the end of its line.
func lineRun(text []byte) int {
	n := visibleLine.run(text, maxValue)
	if k := bytes.Index(text[:n], []byte(`\n`)); k >= 0 {
		n = k
	}
	return n
}

// beside finds the value that replaces the one that ends at end: of another colour right behind it, or behind an arrow.
func (s *scan) beside(kind string, end int) {
	text := s.text
	i := end
	if n := colour(text[i:]); n > 0 {
		i += n
		if n = lineRun(text[i:]); n > 0 && plausible(kind, text[i:i+n], line) {
			s.found(i, i+n, kind)
		}
		return
	}
	for i < len(text) && i < end+4 && (quote(text[i]) || text[i] == '\\') {
		i++
	}
	if n := spaces(text[i:]); n > 0 && i > end && bytes.HasPrefix(text[i+n:], []byte("-> ")) {
		if v, st, ok := s.literal(i + n + len("-> ")); ok && plausible(kind, text[v.start:v.end], st) {
			s.found(v.start, v.end, kind)
		}
	}
}
