package lexical

import (
	"bytes"
)

// Unseen are the characters of no width.
var Unseen = [...]string{"\u200b", "\u200c", "\u200d", "\u2060", "\ufeff"}

// Hidden returns the length of the character of no width in front of text.
func Hidden(text []byte) int {
	if len(text) > 2 && text[0] >= 0xe2 {
		for _, h := range Unseen {
			if bytes.HasPrefix(text, []byte(h)) {
				return len(h)
			}
		}
	}
	return 0
}

// MinLine is the shortest line of base64 that others of the same block stand below.
const MinLine = 40

// NumberOf returns where the line ends before the number that a listing puts in front of a line and that text
// ends with, or len(text).
func NumberOf(text []byte) int {
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
