package redact

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"
)

// textControls are the control characters that occur in text, including ESC of terminal colours.
var textControls = setOf("\n\t\r\x1b")

// decode64 appends the decoded bytes of text, base64 of either alphabet without padding, to b.
func decode64(b, text []byte) []byte {
	std := bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("-"), []byte("+")), []byte("_"), []byte("/"))
	b, _ = base64.RawStdEncoding.AppendDecode(b, std) // what precedes an invalid character
	return b
}

// readable reports whether b, which may end within a character, is the beginning of a text.
func readable(b []byte) bool {
	for len(b) > 0 {
		if c := b[0]; c < utf8.RuneSelf {
			if c < ' ' && !textControls.Has(c) || c == 0x7f {
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
var Visible = inWord.Without("\"'`<>")

// nibble returns the value of the hexadecimal digit c.
func nibble(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return lower[c] - 'a' + 10
}
