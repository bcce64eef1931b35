package redact

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"
)

// TextControls are the control characters that occur in text, including ESC of terminal colours.
var TextControls = SetOf("\n\t\r\x1b")

// Decode64 appends the decoded bytes of text, base64 of either alphabet without padding, to b.
func Decode64(b, text []byte) []byte {
	std := bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("-"), []byte("+")), []byte("_"), []byte("/"))
	b, _ = base64.RawStdEncoding.AppendDecode(b, std) // what precedes an invalid character
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
