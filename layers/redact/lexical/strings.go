package lexical

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

func IndexByte(b []byte, c byte) int { return bytes.IndexByte(b, c) }

// closing quote: endOfString returns where the string ends whose inside starts at i: at its closing quote, or
// at len(b) and false if there is none.
func EndOfString(b []byte, i int) (int, bool) {
	for at := i; ; {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return len(b), false
		}
		at += n
		back := at
		for back > i && b[back-1] == '\\' {
			back--
		}
		if (at-back)%2 == 0 {
			return at, true
		}
		at++
	}
}

// Unquote appends to dst the text of raw, the inside of a JSON string.
func Unquote(dst, raw []byte) []byte {
	for {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 || n+1 == len(raw) {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:n]...)
		r, size := Unescape(raw[n:])
		if r < utf8.RuneSelf {
			dst = append(dst, byte(r))
		} else {
			dst = utf8.AppendRune(dst, r)
		}
		raw = raw[n+size:]
	}
}

// Unescape returns what the escape in front of b stands for, and its length. What is no escape stands for its
// backslash.
func Unescape(b []byte) (rune, int) {
	switch c := b[1]; c {
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case '"', '\\', '/':
		return rune(c), 2
	case 'u':
		r, ok := hex4(b)
		if !ok {
			return '\\', 1
		}
		if utf16.IsSurrogate(r) {
			if low, ok := hex4(b[6:]); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					return pair, 12
				}
			}
			return utf8.RuneError, 6
		}
		return r, 6
	}
	return '\\', 1
}

// hex4 reads the escape \uXXXX in front of b.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		if !HexAny.Has(c) {
			return 0, false
		}
		r = r<<4 | rune(Nibble(c))
	}
	return r, true
}

// RawOffsets translates offsets in the text of raw, in increasing order, into offsets in raw.
func RawOffsets(raw []byte, offsets []int) []int {
	out := offsets[:0]
	at, text := 0, 0
	for _, want := range offsets {
		for text < want {
			n := bytes.IndexByte(raw[at:], '\\')
			if n < 0 || n >= want-text || at+n+1 == len(raw) {
				at, text = at+want-text, want
				break
			}
			at, text = at+n, text+n
			r, size := Unescape(raw[at:])
			at += size
			text += max(1, utf8.RuneLen(r))
		}
		out = append(out, at)
	}
	return out
}
