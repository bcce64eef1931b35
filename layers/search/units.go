package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A unit is a piece of a text that is shown whole or not at all: a sentence, an item of a list, a line of code, of a
// table or of a change.
type unit struct {
	start, end int
	heading    bool // a heading, or a text that ends with a colon: it introduces what follows
	item       bool // of a list
	code       bool // a line of code
	first      bool // of a paragraph
}

// longItem is the size in bytes from which the sentences of a list item are units of their own.
const longItem = 240

// units divides a text in Markdown.
func units(text string) (out []unit) {
	fenced, paragraph := false, -1
	end := func(to int) {
		if paragraph >= 0 {
			out = sentences(out, text, paragraph, to)
		}
		paragraph = -1
	}
	for i := 0; i < len(text); {
		next := len(text)
		if k := strings.IndexByte(text[i:], '\n'); k >= 0 {
			next = i + k + 1
		}
		line := strings.TrimSpace(text[i:next])
		start := i + strings.Index(text[i:next], line)
		switch {
		case strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"):
			end(i)
			fenced = !fenced
		case line == "" || strings.Trim(line, "-=|:+ *_") == "":
			end(i)
		case fenced:
			out = append(out, unit{start: start, end: start + len(line), code: true})
		case line[0] == '#' && strings.TrimLeft(line, "#") != line && strings.HasPrefix(strings.TrimLeft(line, "#"), " "):
			end(i)
			out = append(out, unit{start: start, end: start + len(line), heading: true, first: true})
		case line[0] == '|':
			end(i)
			out = append(out, unit{start: start, end: start + len(line), item: true})
		case isItem(line):
			end(i)
			stop := itemEnd(text, next)
			if stop-start <= longItem {
				u := unit{start: start, end: start + len(strings.TrimRightFunc(text[start:stop], unicode.IsSpace)), item: true}
				u.heading = text[u.end-1] == ':'
				out = append(out, u)
			} else {
				from := len(out)
				out = sentences(out, text, start, stop)
				out[from].item = true
			}
			next = stop
		case paragraph < 0:
			paragraph = start
		}
		i = next
	}
	end(len(text))
	return out
}

// itemEnd returns the end of the item whose first line ends before text[i]: the lines that continue it are indented.
func itemEnd(text string, i int) int {
	for i < len(text) {
		next := len(text)
		if k := strings.IndexByte(text[i:], '\n'); k >= 0 {
			next = i + k + 1
		}
		line := text[i:next]
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || line[0] != ' ' && line[0] != '\t' || isItem(trimmed) || strings.HasPrefix(trimmed, "```") {
			return i
		}
		i = next
	}
	return i
}

// isItem reports whether a line begins an item of a list.
func isItem(line string) bool {
	if len(line) < 3 {
		return false
	}
	if strings.IndexByte("-*+", line[0]) >= 0 && line[1] == ' ' || strings.HasPrefix(line, "• ") {
		return true
	}
	rest := strings.TrimLeft(line, "0123456789")
	return len(rest) < len(line) && len(line)-len(rest) <= 3 && len(rest) > 1 && (rest[0] == '.' || rest[0] == ')') && rest[1] == ' '
}

// sentences appends the sentences of a paragraph.
func sentences(out []unit, text string, from, to int) []unit {
	first := true
	add := func(start, end int) {
		for start < end && unicode.IsSpace(rune(text[start])) {
			start++
		}
		end = start + len(strings.TrimRightFunc(text[start:end], unicode.IsSpace))
		if start < end {
			out = append(out, unit{start: start, end: end, first: first, heading: text[end-1] == ':'})
			first = false
		}
	}
	start := from
	for i := from; i < to; {
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		if endsSentence(r) && begins(text[i:to]) || strings.ContainsRune("。！？", r) {
			add(start, i)
			start = i
		}
	}
	add(start, to)
	return out
}

func endsSentence(r rune) bool { return r == '.' || r == '!' || r == '?' }

// begins reports whether a sentence may begin after a full stop: blanks, then anything but a small letter.
func begins(rest string) bool {
	trimmed := strings.TrimLeft(rest, " \t\n*_)\"'`")
	if trimmed == "" || len(trimmed) == len(rest) || strings.IndexAny(rest[:len(rest)-len(trimmed)], " \t\n") < 0 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(trimmed)
	return !unicode.IsLower(r)
}

// lines divides the text of a call: each line is a unit.
func lines(text string) (out []unit) {
	for i := 0; i < len(text); {
		next := len(text)
		if k := strings.IndexByte(text[i:], '\n'); k >= 0 {
			next = i + k + 1
		}
		if line := strings.TrimSpace(text[i:next]); line != "" && line != "@@" {
			start := i + strings.Index(text[i:next], line)
			out = append(out, unit{start: start, end: start + len(line), code: true})
		}
		i = next
	}
	return out
}

// leadWords begin a sentence of the assistant that says what it does next.
var leadWords = []string{"let me ", "let's ", "i'll ", "i will ", "i need to ", "i should ", "i'm going to ", "we need to ", "time to "}

// fillers come before such words.
var fillers = map[string]bool{"ok": true, "okay": true, "good": true, "great": true, "perfect": true, "excellent": true,
	"and": true, "so": true, "now": true, "next": true, "first": true, "then": true, "but": true}

// cutLeadIn cuts the last sentence from a text if it only announces what follows: "Let me run the tests:".
func cutLeadIn(text string) (before, last string) {
	tail := strings.TrimRightFunc(text, unicode.IsSpace)
	from := strings.LastIndexByte(tail, '\n') + 1
	line := sentences(nil, tail, from, len(tail))
	if len(line) == 0 {
		return text, ""
	}
	u := line[len(line)-1]
	if u.end-u.start > longItem || !introduces(tail[u.start:u.end]) {
		return text, ""
	}
	return strings.TrimSpace(tail[:u.start]), tail[u.start:u.end]
}

// introduces reports whether a sentence announces what follows.
func introduces(s string) bool {
	if strings.HasSuffix(s, ":") || strings.HasSuffix(s, "...") || strings.HasSuffix(s, "…") {
		return true
	}
	low := strings.ToLower(strings.ReplaceAll(s, "’", "'"))
	for {
		word, rest, more := strings.Cut(low, " ")
		if !more || !fillers[strings.TrimRight(word, ",.!")] {
			break
		}
		low = strings.TrimLeft(rest, "-– ")
	}
	for _, w := range leadWords {
		if strings.HasPrefix(low, w) {
			return true
		}
	}
	return false
}
