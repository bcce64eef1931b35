package redact

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// endOfString returns the offset of the quote that closes the JSON string whose content starts at i; len(b) and false
// if there is none.
func endOfString(b []byte, i int) (int, bool) {
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

// unquote appends the unescaped content raw of a JSON string to dst.
func unquote(dst, raw []byte) []byte {
	for {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 || n+1 == len(raw) {
			return append(dst, raw...)
		}
		r, size := Unescape(raw[n:])
		dst = utf8.AppendRune(append(dst, raw[:n]...), r)
		raw = raw[n+size:]
	}
}

// escapes maps the letter of a two-byte escape to its character.
var escapes = [256]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', '"': '"', '\\': '\\', '/': '/'}

// Unescape returns the character of the escape at the start of b, and the length of the escape. A backslash that does
// not start a valid escape is a character of its own.
func Unescape(b []byte) (rune, int) {
	c := b[1]
	if e := escapes[c]; e != 0 {
		return rune(e), 2
	}
	if c != 'u' {
		return '\\', 1
	}
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

// hex4 parses the escape \\uXXXX at the start of b.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		if !hexAny.Has(c) {
			return 0, false
		}
		r = r<<4 | rune(nibble(c))
	}
	return r, true
}

// rawOffsets converts increasing offsets in the unescaped text of raw to offsets in raw, in place.
func rawOffsets(raw []byte, offsets []int) []int {
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
