package redact

import "bytes"

// tagged finds the text at i of an element of XML, up to the next tag.
func (s *scan) tagged(i int) (v span, st style, ok bool) {
	text := s.text
	for range 4 {
		i += spaces(text[i:])
		i += newline(text[i:])
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
	v = bare(text, i, i+n)
	if k := bytes.IndexAny(text[v.start:v.end], "\r\n"); k >= 0 { // and the number of the next line
		v.end = v.start + k
	} else if k := bytes.Index(text[v.start:v.end], []byte(`\n`)); k >= 0 {
		v.end = v.start + k
	}
	v = bare(text, v.start, v.end)
	return v, loose, v.end > v.start
}

// element finds the text of the element whose name ends at i, behind its attributes.
func (s *scan) element(i int) (v span, st style, ok bool) {
	n := indexByte(s.text[i:min(len(s.text), i+200)], '>')
	if n < 0 || n > 0 && s.text[i+n-1] == '/' || bytes.IndexByte(s.text[i:i+n], '<') >= 0 {
		return v, st, false
	}
	v, _, ok = s.tagged(i + n + 1)
	return v, quoted, ok
}

// element reports whether text ends where the name of an element of XML begins.
func element(text []byte) bool {
	n := len(text)
	if n > 0 && text[n-1] == ':' {
		n -= 1 + alnum.runBack(text[:n-1], 24)
	}
	return n > 0 && text[n-1] == '<'
}

// initialised finds the value of { get; set; } = "value".
func (s *scan) initialised(i int) (v span, st style, ok bool) {
	n := indexByte(s.text[i:min(len(s.text), i+48)], '}')
	if n < 0 {
		return v, st, false
	}
	i += n + 1
	if i += spaces(s.text[i:]); i >= len(s.text) || s.text[i] != '=' {
		return v, st, false
	}
	return s.literal(i + 1 + spaces(s.text[i+1:]))
}

// property finds the string behind <key>password</key>, the end of which is at i.
func (s *scan) property(i int) (v span, st style, ok bool) {
	rest := s.text[i:min(len(s.text), i+80)]
	const open = "<string>"
	n := bytes.Index(rest, []byte(open))
	if n < 0 || !bytes.HasPrefix(rest, []byte("</key>")) || len(bytes.Trim(rest[len("</key>"):n], " \t\r\n\\")) > 1 {
		return v, st, false
	}
	return s.tagged(i + n + len(open))
}
