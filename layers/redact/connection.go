package redact

import (
	"bytes"
)

// connection returns the value at i of a key in a connection string, such as
// Server=db;Uid=app;Password=value;Encrypt=true. The key begins at start.
func (s *Scan) connection(start, i int) (v Span, ok bool) {
	text := s.Text
	from := max(0, start-300)
	before := bytes.TrimRight(text[from:start], " ")
	end := i + inWord.Run(text[i:], maxValue)
	o := openBefore(text[:i])
	for k := i; k < end; k++ {
		if c := text[k]; c == ';' || (c == '"' || c == '\'' || c == '`') && o.Quotes.Has(c) || c == '\\' && k+1 < end &&
			(text[k+1] == 'n' || text[k+1] == 'r' || o.Quotes.Has(text[k+1])) {
			end = k
		}
	}
	if end == i || !bytes.HasSuffix(before, []byte(";")) && !keyFollows(text[end:]) {
		return v, false
	}
	if !hasConnectionKey(before) && !hasConnectionKey(text[end:min(len(text), end+200)]) {
		return v, false
	}
	return Span{Start: i, End: end}, true
}
