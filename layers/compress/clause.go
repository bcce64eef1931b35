package compress

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A textPiece is an unbroken part of a line of prose: a sentence, or some clauses of a very long one. No word
// within a piece is ever left out. Pieces of a line that do not follow each other are written with [gap]
// between them.
type textPiece struct {
	Text  string
	Edges pieceEdges
}

// pieceEdges describe how a piece is connected to its neighbours in the line.
type pieceEdges uint8

const (
	startsMidway pieceEdges = 1 << iota // it begins inside a sentence
	endsMidway                          // it ends inside a sentence
	closeBy                             // no space between it and the piece before
	afterGap                            // what was between it and the piece before is left out already
)

// gap marks omitted text in a line.
const gap = " … "

const (
	shortLine = 60  // bytes; shorter lines are not split
	longUnit  = 600 // bytes; longer sentences are split into clauses, and what is longer still between words
)

// eachPiece yields the pieces of a line of prose in order. A line that was cut before is split where it was.
func eachPiece(line string, yield func(textPiece)) {
	e := pieceEdges(0)
	for part := range strings.SplitSeq(line, gap) {
		eachSentence(part, e, yield)
		e = afterGap
	}
}

// eachSentence yields the pieces of a text without gaps.
func eachSentence(s string, e pieceEdges, yield func(textPiece)) {
	for s != "" {
		n, within := len(s), pieceEdges(0)
		if n > shortLine {
			n, within = sentence(s, 20)
		} else if strings.HasSuffix(s, ":") || strings.Contains(s, ". Let me ") || strings.Contains(s, ". Now ") {
			n, within = sentence(s, 12) // what is done, before what comes next
		}
		text, next := strings.TrimRight(s[:n], " \t"), strings.TrimLeft(s[n:], " \t")
		if next == "" {
			within = 0
		}
		yield(textPiece{text, e | within&endsMidway})
		if e = within & startsMidway; len(text) == n && len(next) == len(s)-n {
			e |= closeBy
		}
		s = next
	}
}

// sentence returns the length of the sentence that s starts with, or of its beginning if that is very long, and how the
// text behind it goes on. A sentence has at least so many bytes.
func sentence(s string, least int) (n int, within pieceEdges) {
	comma, space := 0, 0 // behind the last of each
	depth := 0           // of open brackets
	for i, r := range s {
		if i >= longUnit {
			return cmp.Or(comma, space, i), startsMidway | endsMidway
		}
		switch r {
		case '.', '!', '?':
			j := i + 1
			within := depth
			for ; j < len(s) && strings.IndexByte(`"')]*`+"`", s[j]) >= 0; j++ {
				if s[j] == ')' || s[j] == ']' {
					within--
				}
			}
			if j < len(s) && s[j] == ' ' && j >= least && !(within > 0 && closesAgain(s[j:], within)) && !goesOn(s[:i], s[i+1:j], s[j:]) {
				return j + 1, 0
			}
		case '(', '[':
			depth++
		case ')', ']':
			depth = max(0, depth-1)
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

// closesAgain reports whether as many brackets as depth are closed soon in a text: one that stays open, as in a list of
// signs, holds no sentence together.
func closesAgain(s string, depth int) bool {
	for i := 0; i < min(len(s), longUnit); i++ {
		switch s[i] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth == 0 {
				return true
			}
		}
	}
	return false
}

// The abbreviations that a text goes on after: always, or if a small letter follows.
var (
	abbreviations    = []string{"vs", "e.g", "i.e", "cf", "eg", "ie", "approx", "incl"}
	abbreviationsLow = []string{"etc", "al", "resp", "ca"}
)

// goesOn reports whether a sentence goes on behind the stop after a text: the stop is that of an abbreviation, or the
// closing signs after it end a sentence in brackets, and a small letter follows.
func goesOn(before, closing, next string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(next, " "))
	if closing != "" {
		return strings.ContainsAny(closing, ")]") && unicode.IsLower(r)
	}
	word := strings.ToLower(strings.TrimLeft(before[strings.LastIndexAny(before, " \t(")+1:], `"'*_[`+"`"))
	if slices.Contains(abbreviations, word) {
		return true
	}
	return unicode.IsLower(r) && slices.Contains(abbreviationsLow, word)
}
