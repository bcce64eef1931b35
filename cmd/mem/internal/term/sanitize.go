package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize makes hostile text safe to print on a terminal. It removes whole escape sequences, and control
// characters other than newline and tab. Invisible and reordering characters (bidirectional controls, zero-width
// and tag characters, stray variation selectors) are shown by number, as ‹U+202E›. Joiners and selectors stay
// where a script or an emoji needs them. Bytes that are not UTF-8 become U+FFFD.
func Sanitize(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	before := rune(-1) // the last character kept unchanged
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == 0x1b || r >= 0x80 && r < 0xa0 && !(r == utf8.RuneError && n == 1):
			n = sequence(s)
		case r == '\n' || r == '\t':
			b.WriteRune(r)
			before = r
		case r < ' ' || r == 0x7f:
		case !hidden(r) || needed(before, r, s[n:]):
			b.WriteRune(r)
			before = r
		default:
			fmt.Fprintf(&b, "‹U+%04X›", r)
			before = -1
		}
		s = s[n:]
	}
	return b.String()
}

// SanitizeLine is [sanitize] for text that must stay on one line: newlines and tabs become spaces.
func SanitizeLine(s string) string {
	s = Sanitize(s)
	if !strings.ContainsAny(s, "\n\t") {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, s)
}

// Quoted returns a title in quotation marks, sanitised.
func Quoted(title string) string { return `"` + SanitizeLine(title) + `"` }

// plain reports whether s is printable ASCII with newlines and tabs, as most text is.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// sequence returns the length of the escape sequence, or the lone control character, at the start of s.
// A sequence without an end reaches to the end of its line only.
func sequence(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if r == 0x1b {
		if n == len(s) {
			return n
		}
		c := s[n]
		switch {
		case c == '[':
			return n + 1 + csi(s[n+1:])
		case strings.IndexByte("]P^_X", c) >= 0:
			return n + 1 + stringSequence(s[n+1:])
		case c >= 0x20 && c <= 0x2f: // intermediate bytes, then one final
			return n + csi(s[n:])
		case c >= 0x30 && c <= 0x7e:
			return n + 1
		}
		return n
	}
	switch r { // C1 controls
	case 0x9b:
		return n + csi(s[n:])
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		return n + stringSequence(s[n:])
	}
	return n
}

// csi returns the length of the parameters, intermediates and final byte of a control sequence.
func csi(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x7e:
			return i
		}
	}
	return len(s)
}

// stringSequence returns the length of a string such as a window title, with its terminator.
func stringSequence(s string) int {
	for i, r := range s {
		switch {
		case r == 0x07:
			return i + 1
		case r == 0x9c:
			return i + 2
		case r == 0x1b && strings.HasPrefix(s[i+1:], `\`):
			return i + 2
		case r == 0x1b || r == '\n':
			return i
		}
	}
	return len(s)
}

// hidden reports whether r has no glyph: it formats, joins, fills, selects or is a tag.
func hidden(r rune) bool {
	switch {
	case r < 0xa0:
		return false
	case r >= 0xe0000 && r <= 0xe0fff, selector(r):
		return true
	}
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180c, 0x180d, 0x180f, 0x2028, 0x2029, 0x3164, 0xffa0:
		return true
	}
	return unicode.Is(unicode.Cf, r)
}

func selector(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef }

// needed reports whether the hidden character r has an effect between before and rest.
func needed(before, r rune, rest string) bool {
	after, _ := utf8.DecodeRuneInString(rest)
	switch {
	case r == 0x200d && (pictured(before) || before == 0xfe0f):
		return pictured(after)
	case r == 0x200d || r == 0x200c:
		return joins(before) && (joins(after) || r == 0x200d)
	case r == 0xfe0e || r == 0xfe0f:
		return pictured(before) || strings.ContainsRune("#*0123456789", before)
	case selector(r):
		return unicode.Is(unicode.Han, before)
	}
	return false
}

func pictured(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sk) || r == 0x203c || r == 0x2049
}

// joins reports whether r is of a script that writes with joiners.
func joins(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali,
		unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
		unicode.Malayalam, unicode.Sinhala)
}

// EscapeJSON replaces characters of a JSON text that [Sanitize] would remove by \u escapes. They occur only in
// strings, where the escapes mean the same.
func EscapeJSON(b []byte) []byte {
	s := string(b)
	if plain(s) {
		return b
	}
	var out strings.Builder
	out.Grow(len(s))
	for _, r := range s {
		switch {
		case r > 0xffff && hidden(r):
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		case hidden(r), r >= 0x7f && r < 0xa0:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	return []byte(out.String())
}
