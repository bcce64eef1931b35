package scanner

import (
	"encoding/binary"

	"github.com/memvcs/mem/layers/redact/lexical"
)

// A scan is one look at one text: a decoded string, a line that is no JSON, or what was decoded from a part of one.
type Scan struct {
	Rules   *Ruleset
	words   *keywords // of the built-in rules
	session *Knowns   // values known from what came before, may be nil
	Text    []byte
	Spans   []lexical.Span // what was found, in no order
	name    int            // end of the last name of a pair that was looked at
	depth   int            // how often the text was decoded from a part of another
	plain   []byte         // where encoded parts are decoded to
	where   []int          // where in the text each byte of it comes from

	decoder *Scan // of decoded parts; kept, for most texts have none

	unquoted []byte // memory of the string of a JSON value that text is

	joined []byte         // lines of base64, without their ends
	unread int            // where the last of them ended
	hiding bool           // the text holds characters of no width
	tabled int            // up to here the text was looked at as a table
	cells  []lexical.Span // memory of a row
	kinds  []string       // of its columns
	Names  lexical.NameCache
}

// found takes text[start:end] for a secret, unless it is allowed.
func (s *Scan) found(start, end int, rule string) {
	if start >= end || s.Rules.allows(rule, s.Text[start:end]) {
		return
	}
	s.Spans = append(s.Spans, lexical.Span{Start: start, End: end, Rule: rule})
}

// maxDepth is how many codings are looked through: base64 of base64, as in a Secret of a Secret.
const maxDepth = 2

// Run scans text and returns what was found, with what is found in decoded parts up to maxDepth.
func (s *Scan) Run(text []byte, depth int) []lexical.Span {
	s.Text, s.Spans, s.name, s.depth = text, s.Spans[:0], 0, depth
	s.unread, s.hiding, s.tabled = 0, false, 0
	s.words.each(text, func(at int, w *word) { w.do(s, at, w) })
	s.Rules.known.scan(s)
	if s.session != nil {
		s.session.scan(s)
	}
	if len(s.Rules.Custom) > 0 {
		s.users()
	}
	if depth < maxDepth {
		s.encoded()
	}
	return s.Spans
}

// MinEncoded is the shortest run of base64 that is decoded: 18 bytes.
const MinEncoded = 24

// encoded looks through a level of base64 and of percent encoding.
func (s *Scan) encoded() {
	text := s.Text
	if s.decoder == nil {
		s.decoder = s.Rules.Scans.Get().(*Scan)
	}
	inner := s.decoder
	inner.session = s.session
	// A run of 24 characters covers eight bytes that begin at a multiple of sixteen.
	for i := 0; i+8 <= len(text); i += 16 {
		if gaps(text[i:]) || lexical.Base64.Run(text[i:i+8], 8) < 8 {
			continue
		}
		start := i - lexical.Base64.RunBack(text[:i], len(text))
		end := i + lexical.Base64.Run(text[i:], len(text))
		if end-start >= MinEncoded && start >= s.unread {
			s.base64(inner, start, end)
		}
		i = end &^ 15
	}
	if s.hiding {
		s.uncovered(inner)
	}
	s.percent(inner)
}

// gaps reports whether one of the first eight bytes of b is below '+', the least character of base64.
func gaps(b []byte) bool {
	v := binary.LittleEndian.Uint64(b)
	const ones = 0x0101010101010101
	return (v-'+'*ones)&^v&(0x80*ones) != 0
}

// base64 decodes text[start:end], whose beginning may belong to something else, with the lines below that go on
// with it, and scans what that says.
func (s *Scan) base64(inner *Scan, start, end int) {
	for shift := range 4 {
		from := start + shift
		if end-from < MinEncoded {
			return
		}
		if !Readable64(s.Text[from : from+MinEncoded]) {
			continue
		}
		s.unread = s.lines(from, end)
		s.plain = lexical.Decode64(s.plain[:0], s.joined)
		for _, f := range inner.Run(s.plain, s.depth+1) {
			s.found(s.where[f.Start*4/3], s.where[min(len(s.joined), (f.End*4+2)/3)-1]+1, f.Rule)
		}
		return
	}
}

// Readable64 reports whether text, base64 of 24 characters, says something readable. Most does not, from its start on.
func Readable64(text []byte) bool {
	var b [MinEncoded / 4 * 3]byte
	more := 0 // bytes that the character still has
	for i, k := 0, 0; i < MinEncoded; i, k = i+4, k+3 {
		v := uint32(lexical.Sextets[text[i]])<<18 | uint32(lexical.Sextets[text[i+1]])<<12 | uint32(
			lexical.Sextets[text[i+2]])<<6 | uint32(lexical.Sextets[text[i+3]])
		b[k], b[k+1], b[k+2] = byte(v>>16), byte(v>>8), byte(v)
		for _, c := range b[k : k+3] {
			switch {
			case (c&0xc0 == 0x80) != (more > 0), c < ' ' && !lexical.Printed.Has(c), c == 0x7f, c > 0xf4:
				return false
			case more > 0:
				more--
			case c >= 0xf0:
				more = 3
			case c >= 0xe0:
				more = 2
			case c >= 0xc0:
				more = 1
			}
		}
	}
	return lexical.Readable(b[:])
}

// maxPercent is how much of a percent-encoded run is looked at together.
const maxPercent = 8 << 10

// percent decodes the runs of text that hold percent escapes, and scans what they say.
func (s *Scan) percent(inner *Scan) {
	text := s.Text
	for i := 0; i+2 < len(text); {
		n := lexical.IndexByte(text[i:], '%')
		if n < 0 {
			return
		}
		if i += n; i+2 >= len(text) || !lexical.HexAny.Has(text[i+1]) || !lexical.HexAny.Has(text[i+2]) {
			i++
			continue
		}
		start := i - lexical.Visible.RunBack(text[:i], maxPercent)
		end := i + lexical.Visible.Run(text[i:], maxPercent)
		s.unescape(start, end)
		for range 2 {
			for _, f := range inner.Run(s.plain, s.depth+1) {
				s.found(s.where[f.Start], s.where[f.End], f.Rule)
			}
			if lexical.IndexByte(s.plain, '+') < 0 {
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
		if c := s.Text[i]; c == '%' && i+2 < end && lexical.HexAny.Has(s.Text[i+1]) && lexical.HexAny.Has(s.Text[i+2]) {
			s.plain = append(s.plain, lexical.Nibble(s.Text[i+1])<<4|lexical.Nibble(s.Text[i+2]))
			i += 3
			continue
		}
		s.plain = append(s.plain, s.Text[i])
		i++
	}
	s.where = append(s.where, end)
}
