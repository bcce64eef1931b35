package redact

import (
	"bytes"
)

// elementText returns the text at i of an XML element, up to the next tag.
func (s *Scan) elementText(i int) (v Span, st Style, ok bool) {
	text := s.Text
	for range 4 {
		i += spaces(text[i:])
		i += Newline(text[i:])
	}
	i += spaces(text[i:])
	i = lineStart(text, i)
	end := "</"
	if data := "<![CDATA["; bytes.HasPrefix(text[i:], []byte(data)) {
		i, end = i+len(data), "]]>"
	}
	n := bytes.Index(text[i:min(len(text), i+maxValue)], []byte(end))
	if k := bytes.Index(text[i:min(len(text), i+maxValue)], []byte(`<\/`)); k > 0 && (n < 0 || k < n) {
		n = k
	}
	if n < 1 {
		return v, st, false
	}
	v = trimCell(text, i, i+n)
	if k := bytes.IndexAny(text[v.Start:v.End], "\r\n"); k >= 0 { // and the number of the next line
		v.End = v.Start + k
	} else if k := bytes.Index(text[v.Start:v.End], []byte(`\n`)); k >= 0 {
		v.End = v.Start + k
	}
	v = trimCell(text, v.Start, v.End)
	return v, loose, v.End > v.Start
}

// element returns the text of the element whose name ends at i, after its attributes.
func (s *Scan) element(i int) (v Span, st Style, ok bool) {
	n := bytes.IndexByte(s.Text[i:min(len(s.Text), i+200)], '>')
	if n < 0 || n > 0 && s.Text[i+n-1] == '/' || bytes.IndexByte(s.Text[i:i+n], '<') >= 0 {
		return v, st, false
	}
	v, _, ok = s.elementText(i + n + 1)
	return v, Quoted, ok
}

// element reports whether the name of an XML element begins at the end of text.
func element(text []byte) bool {
	n := len(text)
	if n > 0 && text[n-1] == ':' {
		n -= 1 + Alnum.RunBack(text[:n-1], 24)
	}
	return n > 0 && text[n-1] == '<'
}
