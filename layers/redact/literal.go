package redact

import "bytes"

// literal finds the string literal that starts at i.
func (s *scan) literal(i int) (v span, st style, ok bool) {
	text := s.text
	if i+1 < len(text) && (text[i] == 'b' || text[i] == 'r' || text[i] == 'u' || text[i] == '@' || text[i] == '$') && (text[i+1] == '"' || text[i+1] == '\'' || text[i+1] == '\\') {
		i++
	}
	if n := entity(text[min(i, len(text)):]); n > 0 {
		from := i + n
		end := bytes.Index(text[from:min(len(text), from+maxValue)], text[i:from])
		return span{start: from, end: from + end}, quoted, end > 0
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
	q := text[i]
	from := i + 1
	if mark := text[i-slashes : from]; bytes.HasPrefix(text[from:], mark) && bytes.HasPrefix(text[from+len(mark):], mark) {
		third := from + 2*len(mark)
		if bytes.Contains(text[third:min(len(text), third+maxValue)], bytes.Repeat(mark, 3)) {
			from = third
		}
	}
	rest := text[from:min(len(text), from+maxValue)]
	odd := 0 // where a quote stands behind a backslash that may be the last of the value
	for at := 0; at < len(rest); at++ {
		switch c := rest[at]; {
		case c == '\n':
			return span{start: from, end: from + odd}, quoted, odd > 0
		case c == q:
			back := at
			for back > 0 && rest[back-1] == '\\' {
				back--
			}
			if n := at - back; n == slashes || n < slashes || slashes == 0 && n%2 == 0 {
				if more := goesBehind(rest[at+1:], q, slashes); more > 0 {
					at += more
					continue
				}
				return span{start: from, end: from + at - min(n, slashes)}, quoted, at > 0
			}
			if slashes == 0 && odd == 0 {
				odd = at
			}
		}
	}
	return span{start: from, end: from + odd}, quoted, odd > 0
}

// member finds the value in {"name": "DB_PASSWORD", "value": "..."}, of which i is behind the first comma. Named says that the name is
// called one; then others may stand between the two.
func (s *scan) member(i int, named bool) (v span, st style, ok bool) {
	text := s.text
	reach := 64
	if named {
		reach = 200
	}
	rest := text[i:min(len(text), i+reach)]
	n := bytes.Index(bytes.ToLower(rest), []byte("value"))
	if n < 0 || bytes.ContainsAny(rest[:n], "{}") || !named && bytes.IndexByte(rest[:n], ':') >= 0 {
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

// names reports whether text ends with the key whose value is a name: "name": ".
func names(text []byte) bool {
	text = bytes.TrimRight(text[max(0, len(text)-64):], "/ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
	text = bytes.TrimRight(text, "\"'\\: ")
	for _, key := range [...]string{"name", "Name", "key", "Key"} {
		if bytes.HasSuffix(text, []byte(key)) {
			return true
		}
	}
	return false
}

// goesBehind returns how much of rest, which stands behind a quote, takes the literal up again that seemed to end there: the quote doubled,
// as YAML, SQL and ADO.NET write one within a literal, or one that a shell is given as '\” or '"'"'. Slashes stand before each quote.
func goesBehind(rest []byte, q byte, slashes int) int {
	if n := slashes; len(rest) > n && rest[n] == q && slashesBefore(rest[:n]) == n {
		return n + 1
	}
	if q != '\'' {
		return 0
	}
	n := 0
	for n < len(rest) && n < 8 && rest[n] == '\\' {
		n++
	}
	if n > 0 && bytes.HasPrefix(rest[n:], []byte("''")) {
		return n + 2
	}
	if bytes.HasPrefix(rest, []byte(`"'"'`)) {
		return len(`"'"'`)
	}
	return 0
}
