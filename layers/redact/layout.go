package redact

import (
	"bytes"
)

// blockValue returns the value at i of "password: |" in YAML: the next line, if it is one word.
func (s *Scan) blockValue(i int) (v Span, st Style, ok bool) {
	text := s.Text
	if i >= len(text) || text[i] != '|' && text[i] != '>' {
		return v, st, false
	}
	n := 1
	for i+n < len(text) && bytes.IndexByte([]byte("+-123456789"), text[i+n]) >= 0 {
		n++
	}
	i += n + spaces(text[i+n:])
	end := Newline(text[i:])
	if end == 0 {
		return v, st, false
	}
	i = lineStart(text, i+end)
	n = lineRun(text[i:])
	return Span{Start: i, End: i + n}, Line, n > 0 && endsLine(text[i+n:])
}

// nextLine returns the value on the line after the line end at i: a quoted value, or a generated word. A line of
// dashes may stand between the two lines.
func (s *Scan) nextLine(i int) (v Span, st Style, ok bool) {
	text := s.Text
	i = lineStart(text, i+Newline(text[i:]))
	if bytes.HasPrefix(text[i:], []byte("---")) || bytes.HasPrefix(text[max(0, i-1):], []byte("---")) {
		for i < len(text) && text[i] == '-' {
			i++
		}
		n := Newline(text[i:])
		if n == 0 {
			return v, st, false
		}
		i = lineStart(text, i+n)
	} else if bytes.HasPrefix(text[i:], []byte("string(")) {
		if n := bytes.IndexByte(text[i:min(len(text), i+24)], ')'); n > 0 {
			i += n + 1
			return s.literal(i + spaces(text[i:]))
		}
	}
	if v, st, ok = s.literal(i); ok {
		return v, st, ok
	}
	n := lineRun(text[i:])
	return Span{Start: i, End: i + n}, Line, n > 0 && strong(text[i:i+n]) &&
		endsLine(text[i+n:])
}

// nameValueEntry returns the value in "- name: DB_PASSWORD" followed by a line "value: ...". i is the offset after
// the name.
func (s *Scan) nameValueEntry(start, i int) (v Span, st Style, ok bool) {
	text := s.Text
	before := bytes.TrimRight(text[:start], ` "'\`)
	if !bytes.HasSuffix(before, []byte("name:")) && !bytes.HasSuffix(before, []byte("key:")) {
		return v, st, false
	}
	i = lineStart(text, i+Newline(text[i:]))
	if !bytes.HasPrefix(text[i:], []byte("value:")) {
		return v, st, false
	}
	i += len("value:")
	i += spaces(text[i:])
	if v, st, ok = s.literal(i); ok {
		return v, st, ok
	}
	n := lineRun(text[i:])
	return Span{Start: i, End: i + n}, Line, n > 0 && endsLine(text[i+n:])
}

// nestedValue returns the value in {"type": "string", "value": "..."} or { default = "..." }. i is the offset after the
// bracket.
func (s *Scan) nestedValue(i int) (v Span, st Style, ok bool) {
	text := s.Text
	rest := text[i:min(len(text), i+240)]
	if n := bytes.IndexByte(rest, '}'); n >= 0 {
		rest = rest[:n]
	}
	for _, name := range [...]string{"value", "Value", "default"} {
		n := bytes.Index(rest, []byte(name))
		if n < 0 {
			continue
		}
		at, _, _ := skipClosers(text, i+n+len(name))
		if at += spaces(text[at:]); at < len(text) && (text[at] == ':' || text[at] == '=') {
			return s.literal(at + 1 + spaces(text[at+1:]))
		}
	}
	return v, st, false
}

// cell returns the value in the table cell at i.
func (s *Scan) cell(i int) (v Span, st Style, ok bool) {
	text := s.Text
	for i < len(text) && bytes.IndexByte([]byte(" `*\"'"), text[i]) >= 0 {
		i++
	}
	n := unquotedChars.Run(text[i:], maxValue)
	end := i + n
	for end > i && text[end-1] == '*' {
		end--
	}
	return Span{Start: i, End: end}, loose, end > i
}

// list reports the strings of the list at i that are plausible.
func (s *Scan) list(i int, kind string) {
	for range 32 {
		i += spaces(s.Text[i:])
		for Newline(s.Text[i:]) > 0 {
			i = lineStart(s.Text, i+Newline(s.Text[i:]))
		}
		v, st, ok := s.literal(i)
		if !ok {
			return
		}
		if Plausible(kind, s.Text[v.Start:v.End], st) {
			s.found(v.Start, v.End, kind)
		}
		for i = v.End; i < len(s.Text) && closers.Has(s.Text[i]) && i < v.End+6; i++ {
		}
		if i == len(s.Text) || s.Text[i] != ',' {
			return
		}
		i++
	}
}

// items reports the items of the YAML list that begins on the line after i.
func (s *Scan) items(i int, kind string) {
	for range 32 {
		n := Newline(s.Text[i:])
		if n == 0 {
			return
		}
		i = lineStart(s.Text, i+n)
		if !bytes.HasPrefix(s.Text[i:], []byte("- ")) {
			return
		}
		i += 2
		v, st, ok := s.literal(i)
		if !ok {
			v, st = Span{Start: i, End: i + lineRun(s.Text[i:])}, Line
		}
		if v.End > v.Start && Plausible(kind, s.Text[v.Start:v.End], st) {
			s.found(v.Start, v.End, kind)
		}
		for i = v.End; i < len(s.Text) && closers.Has(s.Text[i]) && Newline(s.Text[i:]) == 0; i++ {
		}
	}
}
