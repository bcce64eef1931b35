package redact

import (
	"bytes"
)

// A Scan scans one text at a time: a decoded string, a line that is not JSON, or decoded base64 or percent encoding.
// It is not safe for use by several goroutines.
type Scan struct {
	Rules      *ruleset
	words      *dictionary // of the built-in rules
	session    *knowns     // known values of the session; may be nil
	Text       []byte
	Spans      []Span      // the findings, in no order
	name       int         // the end of the last name that pair examined
	depth      int         // how often the text was decoded
	plain      []byte      // buffer for decoded text
	where      []int       // the offset in Text of each byte of plain, without percent escapes
	blockLines []blockLine // the lines of joined

	decoder *Scan // scans decoded parts; made on first use

	unquoted []byte // buffer for an unescaped JSON string

	joined    []byte   // consecutive lines of base64, without line ends
	base64End int      // the end of the last block of base64
	tableEnd  int      // the end of the last table
	cells     []Span   // buffer for a row
	kinds     []string // the kinds of the columns
	Names     nameCache
}

// found reports text[start:end] as a secret unless it is allowed.
func (s *Scan) found(start, end int, rule string) {
	if start >= end || s.Rules.allows(rule, s.Text[start:end]) {
		return
	}
	s.Spans = append(s.Spans, Span{Start: start, End: end, Rule: rule})
}

// maxDepth is the maximum number of nested encodings, such as base64 in base64.
const maxDepth = 2

// Run scans text and returns the findings, including those in decoded parts up to maxDepth. The result is valid until
// the next call.
func (s *Scan) Run(text []byte, depth int) []Span {
	s.Text, s.Spans, s.name, s.depth = text, s.Spans[:0], 0, depth
	s.base64End, s.tableEnd = 0, 0
	s.words.set.Each(text, func(at, n int) {
		w := &s.words.words[n]
		w.do(s, at, w)
	})
	s.Rules.known.scan(s)
	if s.session != nil {
		s.session.scan(s)
	}
	if len(s.Rules.Custom) > 0 {
		s.custom()
	}
	if depth < maxDepth {
		s.encoded()
	}
	return s.Spans
}

// minEncoded is the minimum length of a run of base64 that is decoded: 18 bytes.
const minEncoded = 24

// encoded decodes and scans the base64 and percent-encoded parts of the text.
func (s *Scan) encoded() {
	text := s.Text
	if s.decoder == nil {
		s.decoder = s.Rules.Scans.Get().(*Scan)
	}
	inner := s.decoder
	inner.session = s.session
	// a run of 24 characters contains every 24th character of the text at least once
	for i := minEncoded - 1; i < len(text); i += minEncoded {
		if !Base64.Has(text[i]) {
			continue
		}
		start := i - Base64.RunBack(text[:i], i)
		end := i + Base64.Run(text[i:], len(text))
		if end-start >= minEncoded && start >= s.base64End {
			s.base64(inner, start, end)
		}
		i = max(i, end-minEncoded)
	}
	s.percent(inner)
}

// base64 decodes and scans text[start:end] and its continuation on the next lines. The first characters may belong to
// other text.
func (s *Scan) base64(inner *Scan, start, end int) {
	for shift := range 4 {
		from := start + shift
		if end-from < minEncoded {
			return
		}
		if s.plain = decode64(s.plain[:0], s.Text[from:from+minEncoded]); !readable(s.plain) {
			continue // most base64 is no text
		}
		s.base64End = s.lines(from, end)
		s.plain = decode64(s.plain[:0], s.joined)
		for _, f := range inner.Run(s.plain, s.depth+1) {
			s.found(s.offset(f.Start*4/3), s.offset(min(len(s.joined), (f.End*4+2)/3)-1)+1, f.Rule)
		}
		return
	}
}

// maxPercent is the maximum length of a percent-encoded run that is decoded.
const maxPercent = 8 << 10

// percent decodes and scans the parts of text that contain percent escapes.
func (s *Scan) percent(inner *Scan) {
	text := s.Text
	for i := 0; i+2 < len(text); {
		n := bytes.IndexByte(text[i:], '%')
		if n < 0 {
			return
		}
		if i += n; i+2 >= len(text) || !hexAny.Has(text[i+1]) || !hexAny.Has(text[i+2]) {
			i++
			continue
		}
		start := i - Visible.RunBack(text[:i], maxPercent)
		end := i + Visible.Run(text[i:], maxPercent)
		s.unescape(start, end)
		for range 2 {
			for _, f := range inner.Run(s.plain, s.depth+1) {
				s.found(s.where[f.Start], s.where[f.End], f.Rule)
			}
			if bytes.IndexByte(s.plain, '+') < 0 {
				break
			}
			for k, c := range s.plain { // as forms write a blank
				if c == '+' && s.Text[s.where[k]] == '+' {
					s.plain[k] = ' '
				}
			}
		}
		i = end
	}
}

// unescape sets s.plain to text[start:end] without its percent escapes.
func (s *Scan) unescape(start, end int) {
	s.plain, s.where = s.plain[:0], s.where[:0]
	for i := start; i < end; {
		s.where = append(s.where, i)
		if c := s.Text[i]; c == '%' && i+2 < end && hexAny.Has(s.Text[i+1]) && hexAny.Has(s.Text[i+2]) {
			s.plain = append(s.plain, nibble(s.Text[i+1])<<4|nibble(s.Text[i+2]))
			i += 3
			continue
		}
		s.plain = append(s.plain, s.Text[i])
		i++
	}
	s.where = append(s.where, end)
}
