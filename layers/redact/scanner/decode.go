package scanner

import (
	"unicode/utf8"
)

// Sextets maps the characters of both base64 alphabets to their values; every other byte has the value 63.
var Sextets = func() (t [256]byte) {
	for i := range t {
		t[i] = 63
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+") {
		t[c] = byte(i)
	}
	t['-'] = 62
	return t
}()

func sextet(c byte) byte { return Sextets[c] }

// TextControls are the control characters that occur in text, including ESC of terminal colours.
var TextControls = SetOf("\n\t\r\x1b")

// Decode64 appends the decoded bytes of text, base64 without padding, to b.
func Decode64(b, text []byte) []byte {
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

// Readable reports whether b, which may end within a character, is the beginning of a text.
func Readable(b []byte) bool {
	for len(b) > 0 {
		if c := b[0]; c < utf8.RuneSelf {
			if c < ' ' && !TextControls.Has(c) || c == 0x7f {
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

// Visible are the bytes that are not blanks, control characters, quotes or angle brackets.
var Visible = InWord.Without("\"'`<>")

// Nibble returns the value of the hexadecimal digit c.
func Nibble(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return Lower[c] - 'a' + 10
}
