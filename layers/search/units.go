package search

import (
	"slices"
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
	start, i := from, from
	if isItem(text[from:to]) {
		i += strings.IndexByte(text[from:to], ' ') // "2." is no sentence
	}
	for i < to {
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		if endsSentence(r) && begins(text[i:to]) || strings.ContainsRune("。！？", r) {
			i = to - len(strings.TrimLeft(text[i:to], closing))
			add(start, i)
			start = i
		}
	}
	add(start, to)
	return out
}

func endsSentence(r rune) bool { return r == '.' || r == '!' || r == '?' }

// closing are the characters that belong to the sentence before them.
const closing = "*_)\"'`"

// begins reports whether a sentence may begin after a full stop: blanks, then anything but a small letter.
func begins(rest string) bool {
	trimmed := strings.TrimLeft(rest, " \t\n"+closing)
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

// fillers come before such words; those of sequence, before a verb of doing.
var (
	fillers  = setOf("ok okay good great perfect excellent and so now next first then but")
	sequence = setOf("now next first then")
)

// doing are verbs of what the assistant does next: "Now add the handler."
var doing = setOf("add change check commit create define delete do edit explore extend find fix format get implement import " +
	"install look make modify move push re-run read refactor register remove rename replace rerun rewrite run search see start " +
	"test try update use verify view wire write")

func setOf(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// cutLeadIn cuts the last sentences from a text that only announce what follows: "Let me fix this. First, the test:".
func cutLeadIn(text string) (before, last string) {
	tail := strings.TrimRightFunc(text, unicode.IsSpace)
	line := sentences(nil, tail, strings.LastIndexByte(tail, '\n')+1, len(tail))
	at := len(tail)
	for _, u := range slices.Backward(line) {
		s := tail[u.start:u.end]
		if len(s) > longItem || !introduces(s) || at < len(tail) && u.heading {
			break
		}
		at = u.start
	}
	if at == len(tail) {
		return text, ""
	}
	return strings.TrimSpace(tail[:at]), tail[at:]
}

// introduces reports whether a sentence announces what follows.
func introduces(s string) bool {
	if strings.HasSuffix(s, ":") || strings.HasSuffix(s, "...") || strings.HasSuffix(s, "…") {
		return true
	}
	low := strings.ToLower(strings.ReplaceAll(s, "’", "'"))
	for filler := ""; ; {
		word, rest, more := strings.Cut(low, " ")
		if more && sequence[filler] && doing[word] {
			return true
		}
		if filler = strings.TrimRight(word, ",.!"); !more || !fillers[filler] {
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
