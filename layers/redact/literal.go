package redact

import (
	"bytes"
)

// literal returns the string literal that starts at i.
func (s *Scan) literal(i int) (v Span, st Style, ok bool) {
	text := s.Text
	if i+1 < len(text) && (text[i] == 'b' || text[i] == 'r' || text[i] == 'u' || text[i] == '@' || text[i] == '$') &&
		(text[i+1] == '"' || text[i+1] == '\'' || text[i+1] == '\\') {
		i++
	}
	if i+2 < len(text) && text[i] == 'r' && text[i+1] == '#' {
		i += 2 // Rust
	}
	slashes := 0
	for i < len(text) && text[i] == '\\' && slashes < 8 {
		slashes++
		i++
	}
	if i >= len(text) || text[i] != '"' && text[i] != '\'' && text[i] != '`' {
		return v, st, false
	}
	from := contentStart(text, i-slashes, i+1)
	end, ok := literalEnd(text[from:min(len(text), from+maxValue)], text[i], slashes)
	return Span{Start: from, End: from + end}, Quoted, ok
}

// contentStart returns the start of the content of a literal whose opening quote, with its backslashes, is
// text[start:end]: after the third quote if the literal is triple-quoted.
func contentStart(text []byte, start, end int) int {
	mark := text[start:end]
	if !bytes.HasPrefix(text[end:], mark) || !bytes.HasPrefix(text[end+len(mark):], mark) {
		return end
	}
	third := end + 2*len(mark)
	if bytes.Contains(text[third:min(len(text), third+maxValue)], bytes.Repeat(mark, 3)) {
		return third
	}
	return end
}

// literalEnd returns the end of a literal that the quote q opened after some backslashes; false if it is empty or is
// not closed.
func literalEnd(rest []byte, q byte, slashes int) (end int, ok bool) {
	odd := 0 // where a quote stands behind a backslash that may be the last of the value
	for at := 0; at < len(rest); at++ {
		switch c := rest[at]; {
		case c == '\n':
			return odd, odd > 0
		case c == q:
			back := at
			for back > 0 && rest[back-1] == '\\' {
				back--
			}
			if n := at - back; n == slashes || n < slashes || slashes == 0 && n%2 == 0 {
				if more := escapedQuote(rest[at+1:], q, slashes); more > 0 {
					at += more
					continue
				}
				return at - min(n, slashes), at > 0
			}
			if slashes == 0 && odd == 0 {
				odd = at
			}
		}
	}
	return odd, odd > 0
}

// member returns the value in {"name": "DB_PASSWORD", "value": "..."}. i is the offset after the first comma. Other
// members may stand between the two.
func (s *Scan) member(i int) (v Span, st Style, ok bool) {
	text := s.Text
	rest := text[i:min(len(text), i+200)]
	n := indexFold(rest, "value")
	if n < 0 || bytes.ContainsAny(rest[:n], "{}") {
		return v, st, false
	}
	i += n + len("value")
	for i < len(text) && (text[i] == '"' || text[i] == '\'' || text[i] == '\\') {
		i++
	}
	if i += spaces(text[i:]); i >= len(text) || text[i] != ':' {
		return v, st, false
	}
	i++
	return s.literal(i + spaces(text[i:]))
}
