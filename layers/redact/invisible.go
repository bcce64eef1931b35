package redact

import (
	"bytes"
)

// zeroWidthChars are the characters of zero width.
var zeroWidthChars = [...]string{"\u200b", "\u200c", "\u200d", "\u2060", "\ufeff"}

// ZeroWidth returns the length of the zero-width character at the start of text, 0 if there is none.
func ZeroWidth(text []byte) int {
	if len(text) > 2 && text[0] >= 0xe2 {
		for _, h := range zeroWidthChars {
			if bytes.HasPrefix(text, []byte(h)) {
				return len(h)
			}
		}
	}
	return 0
}

// minLine is the minimum length of a base64 line that continues on the next line.
const minLine = 40

// beforeLineNumber returns the end of the line before the line number at the end of text, as in the output of cat -n;
// len(text) if text does not end with a line number.
func beforeLineNumber(text []byte) int {
	end := len(text)
	for _, mark := range [...]string{"→", "\t"} {
		if bytes.HasSuffix(text, []byte(mark)) {
			end -= len(mark)
			d := Digits.RunBack(text[:end], 8)
			t := bytes.TrimRight(text[:end-d], " ")
			if d > 0 && len(t) > 0 && t[len(t)-1] == '\n' {
				return len(t) - 1
			}
		}
	}
	return len(text)
}
