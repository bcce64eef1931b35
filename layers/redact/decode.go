package redact

import (
	"bytes"
	"encoding/base64"
	"sort"
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

// minLine is the minimum length of a base64 line that continues on the next line.
const minLine = 40

// A blockLine is where a line of a block of base64 begins, in s.joined and in s.Text.
type blockLine struct{ joined, text int }

// lines sets s.joined to the base64 text[start:end] and its continuation on the next lines, and s.blockLines to where each
// of these lines begins. It returns the end of the block.
func (s *Scan) lines(start, end int) int {
	s.joined, s.blockLines = s.joined[:0], s.blockLines[:0]
	add := func(from, to int) {
		s.blockLines = append(s.blockLines, blockLine{len(s.joined), from})
		s.joined = append(s.joined, s.Text[from:to]...)
	}
	add(start, end)
	if end-start < minLine {
		return end
	}
	for {
		n := Newline(s.Text[end:])
		if hasFold(s.Text[end:], `\r\n`) {
			n = len(`\r\n`)
		}
		if n == 0 {
			return end
		}
		from := lineStart(s.Text, end+n)
		to := from + Base64.Run(s.Text[from:], len(s.Text))
		if to-from < minLine {
			if to > from && to-from >= 4 && (to == len(s.Text) || s.Text[to] == '=' || endsLine(s.Text[to:])) {
				add(from, to)
				end = to
			}
			return end
		}
		add(from, to)
		end = to
	}
}

// offset returns where in s.Text the i-th byte of s.joined is.
func (s *Scan) offset(i int) int {
	n := sort.Search(len(s.blockLines), func(n int) bool { return s.blockLines[n].joined > i }) - 1
	return s.blockLines[n].text + i - s.blockLines[n].joined
}
