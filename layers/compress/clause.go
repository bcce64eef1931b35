package compress

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// A piece is an unbroken part of a line of prose: a sentence, or some clauses of a very long one. No word within a piece is ever left
// out. Pieces of a line that do not follow each other are written with [gap] between them.
type piece struct {
	text  string
	edges edges
}

// edges say how a piece meets its neighbours in the line.
type edges uint8

const (
	midStart edges = 1 << iota // it begins inside a sentence
	midEnd                     // it ends inside a sentence
	closeBy                    // no space between it and the piece before
	afterGap                   // what was between it and the piece before is left out already
)

// gap marks what was left out of a line.
const gap = " … "

const (
	shortLine = 60  // bytes; shorter lines are not split
	longUnit  = 600 // bytes; longer sentences are split into clauses, and what is longer still between words
)

// eachPiece yields the pieces of a line of prose in order. A line that was cut before is split where it was.
func eachPiece(line string, yield func(piece)) {
	e := edges(0)
	for part := range strings.SplitSeq(line, gap) {
		eachSentence(part, e, yield)
		e = afterGap
	}
}

// eachSentence yields the pieces of a text without gaps.
func eachSentence(s string, e edges, yield func(piece)) {
	for s != "" {
		n, within := len(s), edges(0)
		if n > shortLine {
			n, within = sentence(s)
		}
		text, next := strings.TrimRight(s[:n], " \t"), strings.TrimLeft(s[n:], " \t")
		if next == "" {
			within = 0
		}
		yield(piece{text, e | within&midEnd})
		if e = within & midStart; len(text) == n && len(next) == len(s)-n {
			e |= closeBy
		}
		s = next
	}
}

// sentence returns the length of the sentence that s starts with, or of its beginning if that is very long, and how the
// text behind it goes on.
func sentence(s string) (n int, within edges) {
	comma, space := 0, 0 // behind the last of each
	for i, r := range s {
		if i >= longUnit {
			return cmp.Or(comma, space, i), midStart | midEnd
		}
		switch r {
		case '.', '!', '?':
			j := i + 1
			for j < len(s) && strings.IndexByte(`"')]*`+"`", s[j]) >= 0 {
				j++
			}
			if j < len(s) && s[j] == ' ' && j >= 20 {
				return j + 1, 0
			}
		case '。', '！', '？':
			return i + utf8.RuneLen(r), 0
		case '，', '；':
			comma = i + utf8.RuneLen(r)
		case ' ':
			space = i + 1
			if i > 0 && strings.IndexByte(",;:", s[i-1]) >= 0 {
				comma = space
			}
		}
	}
	return len(s), 0
}
