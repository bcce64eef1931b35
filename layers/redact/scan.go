package redact

import "unicode/utf8"

// An action looks at the place of a keyword and says what it found there with [scan.found].
type action func(s *scan, at int, w *word)

// A scan is one look at one text: a decoded string, a line that is no JSON, or what was decoded from a part of one.
type scan struct {
	rules   *ruleset
	session *knowns // values known from what came before, may be nil
	text    []byte
	spans   []span // what was found, in no order
	name    int    // end of the last name of a pair that was looked at
	depth   int    // how often the text was decoded from a part of another
	plain   []byte // where encoded parts are decoded to
	where   []int  // where in the text each byte of it comes from

	unquoted []byte // memory of the string of a JSON value that text is

	joined []byte   // lines of base64, without their ends
	unread int      // where the last of them ended
	hiding bool     // the text holds characters of no width
	tabled int      // up to here the text was looked at as a table
	cells  []span   // memory of a row
	kinds  []string // of its columns
	names  nameCache
}

// found takes text[start:end] for a secret, unless it is allowed.
func (s *scan) found(start, end int, rule string) {
	if start >= end || s.rules.allows(rule, s.text[start:end]) {
		return
	}
	s.spans = append(s.spans, span{start: start, end: end, rule: rule})
}

// maxDepth is how many codings are looked through: base64 of base64, as in a Secret of a Secret.
const maxDepth = 2

// run scans text and returns what was found, with what is found in decoded parts up to maxDepth.
func (s *scan) run(text []byte, depth int) []span {
	s.text, s.spans, s.name, s.depth = text, s.spans[:0], 0, depth
	s.unread, s.hiding, s.tabled = 0, false, 0
	builtin().each(text, func(at int, w *word) { w.do(s, at, w) })
	s.rules.known.scan(s)
	if s.session != nil {
		s.session.scan(s)
	}
	if len(s.rules.custom) > 0 {
		s.users()
	}
	if depth < maxDepth {
		s.encoded()
	}
	return s.spans
}

// minEncoded is the shortest run of base64 that is decoded: 18 bytes.
const minEncoded = 24

// encoded looks through a level of base64 and of percent encoding.
func (s *scan) encoded() {
	text := s.text
	inner := s.rules.scans.Get().(*scan)
	inner.session = s.session
	defer s.rules.scans.Put(inner)
	for i := minEncoded / 2; i < len(text); i += minEncoded / 2 {
		if !base64Table[text[i]] || !base64Before(text[i-minEncoded/2+1:i]) && !base64Behind(text[i:]) {
			continue
		}
		start := i - base64.runBack(text[:i], len(text))
		end := i + base64.run(text[i:], len(text))
		if end-start >= minEncoded && start >= s.unread {
			s.base64(inner, start, end)
		}
		i = max(i, end-minEncoded/2)
	}
	if s.hiding {
		s.uncovered(inner)
	}
	s.percent(inner)
}

// base64Table holds the characters of base64, of either alphabet.
var base64Table = func() (t [256]bool) {
	for c := range t {
		t[c] = base64.has(byte(c))
	}
	return t
}()

// base64Before and base64Behind sample the bytes before a place, and those from it on: a run of minEncoded around it covers one of the two.
func base64Before(text []byte) bool {
	return base64Table[text[0]] && base64Table[text[5]] && base64Table[text[8]] && base64Table[text[3]] && base64Table[text[10]]
}

func base64Behind(text []byte) bool {
	if len(text) < minEncoded/2 {
		return false
	}
	return base64Table[text[11]] && base64Table[text[5]] && base64Table[text[8]] && base64Table[text[2]]
}

// base64 decodes text[start:end], whose beginning may belong to something else, with the lines below that go on with it, and scans what
// that says.
func (s *scan) base64(inner *scan, start, end int) {
	for shift := range 4 {
		from := start + shift
		if end-from < minEncoded {
			return
		}
		if !readable64(s.text[from : from+minEncoded]) {
			continue
		}
		s.unread = s.lines(from, end)
		s.plain = decode64(s.plain[:0], s.joined)
		for _, f := range inner.run(s.plain, s.depth+1) {
			s.found(s.where[f.start*4/3], s.where[min(len(s.joined), (f.end*4+2)/3)-1]+1, f.rule)
		}
		return
	}
}

// sextets are what the characters of base64, of either alphabet, stand for; 63 for all others.
var sextets = func() (t [256]byte) {
	for i := range t {
		t[i] = 63
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+") {
		t[c] = byte(i)
	}
	t['-'] = 62
	return t
}()

func sextet(c byte) byte { return sextets[c] }

// printed are the control characters that stand in texts, those of colours among them.
var printed = setOf("\n\t\r\x1b")

// readable64 reports whether text, base64 of 24 characters, says something readable. Most does not, from its start on.
func readable64(text []byte) bool {
	var b [minEncoded / 4 * 3]byte
	more := 0 // bytes that the character still has
	for i, k := 0, 0; i < minEncoded; i, k = i+4, k+3 {
		v := uint32(sextets[text[i]])<<18 | uint32(sextets[text[i+1]])<<12 | uint32(sextets[text[i+2]])<<6 | uint32(sextets[text[i+3]])
		b[k], b[k+1], b[k+2] = byte(v>>16), byte(v>>8), byte(v)
		for _, c := range b[k : k+3] {
			switch {
			case (c&0xc0 == 0x80) != (more > 0), c < ' ' && !printed.has(c), c == 0x7f, c > 0xf4:
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
	return readable(b[:])
}

// decode64 appends to b what text, base64 without padding, says.
func decode64(b, text []byte) []byte {
	for ; len(text) >= 4; text = text[4:] {
		v := uint32(sextet(text[0]))<<18 | uint32(sextet(text[1]))<<12 | uint32(sextet(text[2]))<<6 | uint32(sextet(text[3]))
		b = append(b, byte(v>>16), byte(v>>8), byte(v))
	}
	switch len(text) {
	case 2:
		b = append(b, sextet(text[0])<<2|sextet(text[1])>>4)
	case 3:
		b = append(b, sextet(text[0])<<2|sextet(text[1])>>4, sextet(text[1])<<4|sextet(text[2])>>2)
	}
	return b
}

// readable reports whether b, which may end within a character, is the beginning of a text.
func readable(b []byte) bool {
	for len(b) > 0 {
		if c := b[0]; c < utf8.RuneSelf {
			if c < ' ' && !printed.has(c) || c == 0x7f {
				return false
			}
			b = b[1:]
			continue
		}
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && utf8.FullRune(b) {
			return false
		}
		b = b[n:]
	}
	return true
}

// maxPercent is how much of a percent-encoded run is looked at together.
const maxPercent = 8 << 10

// percent decodes the runs of text that hold percent escapes, and scans what they say.
func (s *scan) percent(inner *scan) {
	text := s.text
	for i := 0; i+2 < len(text); {
		n := indexByte(text[i:], '%')
		if n < 0 {
			return
		}
		if i += n; i+2 >= len(text) || !hexAny.has(text[i+1]) || !hexAny.has(text[i+2]) {
			i++
			continue
		}
		start := i - visible.runBack(text[:i], maxPercent)
		end := i + visible.run(text[i:], maxPercent)
		s.unescape(start, end)
		for range 2 {
			for _, f := range inner.run(s.plain, s.depth+1) {
				s.found(s.where[f.start], s.where[f.end], f.rule)
			}
			if indexByte(s.plain, '+') < 0 {
				break
			}
			for k, c := range s.plain { // as forms write a blank
				if c == '+' && s.text[s.where[k]] == '+' {
					s.plain[k] = ' '
				}
			}
		}
		i = end
	}
}

var visible = func() (v set) {
	for c := range 256 {
		if c > ' ' && c != '"' && c != '\'' && c != '`' && c != '<' && c != '>' && c != 0x7f {
			v[c>>6] |= 1 << (c & 63)
		}
	}
	return v
}()

// unescape sets s.plain to text[start:end] without its percent escapes.
func (s *scan) unescape(start, end int) {
	s.plain, s.where = s.plain[:0], s.where[:0]
	for i := start; i < end; {
		s.where = append(s.where, i)
		if c := s.text[i]; c == '%' && i+2 < end && hexAny.has(s.text[i+1]) && hexAny.has(s.text[i+2]) {
			s.plain = append(s.plain, nibble(s.text[i+1])<<4|nibble(s.text[i+2]))
			i += 3
			continue
		}
		s.plain = append(s.plain, s.text[i])
		i++
	}
	s.where = append(s.where, end)
}

func nibble(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return lower[c] - 'a' + 10
}
