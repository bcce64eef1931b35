package keepit

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// Marker is a marker in a message. All offsets are in bytes of the message text.
type Marker struct {
	Weight    Weight
	Clamped   bool   // the written weight was above 1.00
	Start     int    // at "##keepit"
	End       int    // after the text, or after ##/keepit## if that closes it
	TextStart int    // after the opening tag
	TextEnd   int    // end of the text
	Text      string // exactly text[TextStart:TextEnd]: no trimming, no change
	Closed    bool   // by ##/keepit##
}

// Scan returns the markers of text in order. A marker is ##keepitD.DD## with exactly two decimals, in any case; weights
// above 1.00 are clamped. Its text runs to the next marker, to anything else that begins with ##keepit, to
// ##/keepit##, or to the end of the message.
//
// Inside a code fence (markdown's rules for ``` and ~~~) both tags are literal, so an example does not pin itself. A
// fence inside a kept text is part of that text, and the text goes on behind it; a fence that is never closed runs to
// the end of the message and makes every tag behind its start literal. Scan takes time linear in len(text) and never
// fails; markers are disjoint and in order.
func Scan(text string) []Marker {
	var out []Marker
	open := -1 // the last marker, while its text still runs
	end := func(at, behind int, closed bool) {
		if open < 0 {
			return
		}
		m := &out[open]
		m.TextEnd, m.End, m.Closed = at, behind, closed
		m.Text = text[m.TextStart:at]
		open = -1
	}
	for l := range lines(text) {
		if l.fenced {
			continue
		}
		for i := l.start; ; {
			k := strings.Index(text[i:l.end], "##")
			if k < 0 {
				break
			}
			i += k
			if n := closingTag(text[i:l.end]); n > 0 {
				end(i, i+n, true)
				i += n
				continue
			}
			w, clamped, n := openingTag(text[i:l.end])
			if n == 0 {
				if hasFold(text[i:l.end], opening) { // a malformed tag ends the text, but starts no marker
					end(i, i, false)
				}
				i++
				continue
			}
			end(i, i, false)
			out = append(out, Marker{Weight: w, Clamped: clamped, Start: i, TextStart: i + n})
			open = len(out) - 1
			i += n
		}
	}
	end(len(text), len(text), false)
	return out
}

// Malformed returns the tags of text that start with ##keepit but are not markers, such as ##keepit0.8##, in order: up
// to the next ##, the first blank, or 40 bytes. Tags in code fences are literal and not included. Malformed takes time
// linear in len(text).
func Malformed(text string) []string {
	if !strings.Contains(text, "##") {
		return nil
	}
	var out []string
	for l := range lines(text) {
		for i := l.start; !l.fenced; i++ {
			k := strings.Index(text[i:l.end], "##")
			if k < 0 {
				break
			}
			i += k
			if _, _, n := openingTag(text[i:l.end]); n > 0 {
				i += n - 1
			} else if hasFold(text[i:l.end], opening) {
				out = append(out, malformedTag(text[i:l.end]))
			}
		}
	}
	return out
}

// mostTag is the length in bytes of the longest malformed tag.
const mostTag = 40

// malformedTag returns the malformed tag at the start of s.
func malformedTag(s string) string {
	if len(s) > mostTag { // the rest of a long line is not read for each tag
		n := mostTag
		for n > len(opening) && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	if n := strings.IndexAny(s, " \t\r"); n >= 0 {
		s = s[:n]
	}
	if n := strings.Index(s[len(opening):], "##"); n >= 0 {
		s = s[:len(opening)+n+2]
	}
	return s
}

const (
	opening = "##keepit"
	closing = "##/keepit##"
)

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// closingTag returns the length of the closing tag that s starts with, or 0.
func closingTag(s string) int {
	if hasFold(s, closing) {
		return len(closing)
	}
	return 0
}

// openingTag parses the opening tag at the start of s; n is its length, 0 if there is none.
func openingTag(s string) (w Weight, clamped bool, n int) {
	if !hasFold(s, opening) {
		return 0, false, 0
	}
	i := len(opening)
	whole := 0
	for ; i < len(s) && digit(s[i]); i++ {
		whole = min(whole*10+int(s[i]-'0'), 1000)
	}
	rest := s[i:]
	if i == len(opening) || len(rest) < 5 || rest[0] != '.' || !digit(rest[1]) || !digit(rest[2]) || rest[3:5] != "##" {
		return 0, false, 0
	}
	v := whole*100 + int(rest[1]-'0')*10 + int(rest[2]-'0')
	return Weight(min(v, 100)), v > 100, i + 5
}

type line struct {
	start, end int  // without the newline
	fenced     bool // a line of a code fence, or inside one
	closes     bool // ends the fence
}

// lines yields the lines of a text and says which belong to a code fence.
func lines(text string) iter.Seq[line] {
	return func(yield func(line) bool) {
		fence, length := byte(0), 0
		for at := 0; at < len(text); {
			l := line{start: at, end: len(text)}
			if k := strings.IndexByte(text[at:], '\n'); k >= 0 {
				l.end = at + k
			}
			at = l.end + 1
			c, n, info := fenceLine(text[l.start:l.end])
			switch {
			case fence == 0 && n >= 3 && (c == '~' || !strings.Contains(info, "`")):
				fence, length, l.fenced = c, n, true
			case fence != 0:
				l.fenced = true
				if c == fence && n >= length && info == "" {
					fence, l.closes = 0, true
				}
			}
			if !yield(l) {
				return
			}
		}
	}
}

// fenceLine returns the fence character, its count (after up to three spaces), and the text that follows.
func fenceLine(s string) (c byte, n int, info string) {
	i := 0
	for i < 3 && i < len(s) && s[i] == ' ' {
		i++
	}
	if i == len(s) || s[i] != '`' && s[i] != '~' {
		return 0, 0, ""
	}
	c = s[i]
	for i+n < len(s) && s[i+n] == c {
		n++
	}
	return c, n, strings.Trim(s[i+n:], " \t\r")
}

// openFence returns the start of the code fence that runs to the end of text, or len(text).
func openFence(text string) int {
	start, inside := len(text), false
	for l := range lines(text) {
		switch {
		case !l.fenced || l.closes:
			start, inside = len(text), false
		case !inside:
			start, inside = l.start, true
		}
	}
	return start
}
