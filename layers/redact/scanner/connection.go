package scanner

import (
	"bytes"

	"github.com/memvcs/mem/layers/redact/lexical"
)

// connection returns the value at i of a key in a connection string, such as
// Server=db;Uid=app;Password=value;Encrypt=true. The key begins at start.
func (s *Scan) connection(start, i int) (v lexical.Span, ok bool) {
	text := s.Text
	from := max(0, start-300)
	before := bytes.TrimRight(text[from:start], " ")
	end := i + lexical.InWord.Run(text[i:], lexical.MaxValue)
	o := lexical.OpenBefore(text[:i])
	for k := i; k < end; k++ {
		if c := text[k]; c == ';' || (c == '"' || c == '\'' || c == '`') && o.Quotes.Has(c) || c == '\\' && k+1 < end &&
			(text[k+1] == 'n' || text[k+1] == 'r' || o.Quotes.Has(text[k+1])) || c == '<' && lexical.Tag(text[k:]) {
			end = k
		}
	}
	if end == i || !bytes.HasSuffix(before, []byte(";")) && !lexical.KeyFollows(text[end:]) {
		return v, false
	}
	if !lexical.HasConnectionKey(before) && !lexical.HasConnectionKey(text[end:min(len(text), end+200)]) {
		return v, false
	}
	return lexical.Span{Start: i, End: end}, true
}
