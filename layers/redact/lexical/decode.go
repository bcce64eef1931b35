package lexical

import (
	"unicode/utf8"
)

// Sextets are what the characters of base64, of either alphabet, stand for; 63 for all others.
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

// Printed are the control characters that stand in texts, those of colours among them.
var Printed = SetOf("\n\t\r\x1b")

// Decode64 appends to b what text, base64 without padding, says.
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
			if c < ' ' && !Printed.Has(c) || c == 0x7f {
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

var Visible = func() (v Set) {
	for c := range 256 {
		if c > ' ' && c != '"' && c != '\'' && c != '`' && c != '<' && c != '>' && c != 0x7f {
			v[c>>6] |= 1 << (c & 63)
		}
	}
	return v
}()

func Nibble(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return Lower[c] - 'a' + 10
}
