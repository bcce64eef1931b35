package trace

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/shell"
)

// The kinds of anchors in the order of the output.
var kinds = [...]string{"decisions", "commands", "files", "errors", "symbols"}

const (
	decisions = iota
	commands
	files
	errorLines
	symbols
)

// Anchors compares the anchors of one kind on two sides.
type Anchors struct {
	Kind   string   `json:"kind"`
	A      int      `json:"a"` // number of different anchors on each side
	B      int      `json:"b"`
	Lost   []string `json:"lost"`   // only in a, in its order
	Gained []string `json:"gained"` // only in b, in its order
}

// A statement is a decision, command or error. Two statements with most terms in common count as the same.
type statement struct {
	kind int
	text string
}

// An anchor is a statement, or the name of a file or symbol.
type anchor struct {
	statement
	normalised string // its text without what says nothing
}

// A seenSet contains anchors.
type seenSet map[statement]bool

// isStatement reports whether the set contains the text as a statement.
func (s seenSet) isStatement(text string) bool {
	return s[statement{decisions, text}] || s[statement{commands, text}] || s[statement{errorLines, text}]
}

// add adds a text and reports whether it is new.
func (s seenSet) add(kind int, text string) bool {
	k := statement{kind, text}
	was := s[k]
	s[k] = true
	return !was
}

// eachAnchor yields the anchors in the lines of a piece that are not in met yet. It may find too many, but finds the
// same in equal lines.
func eachAnchor(p *Piece, met seenSet, yield func(anchor)) {
	for line := range strings.SplitSeq(p.Text, "\n") {
		for _, s := range statements(p, line) {
			said := s.text
			if p.Role == "tool" && strings.HasPrefix(line, "$ ") {
				said = shell.ShortLine("$ " + said) // one that only lost its pager is not lost
			}
			if met.add(s.kind, said) {
				yield(anchor{s, said})
			}
		}
		eachName(line, func(a string) {
			kind := symbols
			switch {
			case fileName(a):
				kind = files
			case !symbol(a):
				return
			}
			if met.add(kind, a) {
				yield(anchor{statement{kind, a}, a})
			}
		})
	}
}

// maxStatementLine is the longest line in which statements are searched; longer lines are data.
const maxStatementLine = 2000

// statements returns the decisions, commands and errors of a line.
func statements(p *Piece, line string) []statement {
	line = strings.TrimSpace(line)
	if line == "" || len(line) > maxStatementLine {
		return nil
	}
	var out []statement
	if cmd, ok := strings.CutPrefix(line, "$ "); ok && p.Role == "tool" {
		cmd, _, failed := strings.Cut(cmd, " -> exit ")
		out = append(out, statement{kind: commands, text: strings.TrimSpace(cmd)})
		if failed {
			out = append(out, statement{kind: errorLines, text: line[2:]})
		}
		return out
	}
	if p.Role == "tool" {
		if isFailure(line) && !isNumberedLine(line) {
			out = append(out, statement{kind: errorLines, text: line})
		}
		return out
	}
	for s := range sentences(line) {
		switch {
		case p.Keep != "" || isDecision(s):
			out = append(out, statement{kind: decisions, text: s})
		case isFailure(s):
			out = append(out, statement{kind: errorLines, text: s})
		}
	}
	return out
}

// isNumberedLine reports whether a line is from the listing of a file, with its number.
func isNumberedLine(line string) bool {
	rest := strings.TrimLeft(line, "0123456789")
	return len(rest) < len(line) && strings.HasPrefix(rest, "→")
}

// sentences splits a line after punctuation marks.
func sentences(line string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line != "" {
			n := len(line)
			for i, r := range line {
				end := i + utf8.RuneLen(r)
				if r == '。' || r == '！' || r == '？' || strings.ContainsRune(".!?;", r) && end < len(line) && line[end] == ' ' {
					n = end
					break
				}
			}
			if s := strings.TrimSpace(line[:n]); s != "" && !yield(s) {
				return
			}
			line = line[n:]
		}
	}
}

// Words that indicate a decision or a failure. They are searched in lower case, between spaces.
var (
	decisionWords = []string{" decided ", " decide ", " decision ", " we use ", " we will use ", " we'll use ",
		" let's use ",
		" use only ", " instead of ", " rather than ",
		" never ", " always ", " must ", " must not ", " should not ", " do not ", " don't ", " chose ", " choose ",
		" chosen ", " go with ", " agreed ", " stick to ", " from now on ",
		" switch to ", " replaced by ", " no longer ", "결정", "사용하기로", "하지 마", "決定", "採用", "使うこと", "决定", "采用", "必须", "不要"}
	failureWords = []string{" error ", " errors ", " failed ", " fails ", " failure ", " panic ", " fatal ", " exception ",
		" traceback ", " segfault ", " undefined ", " cannot find ",
		" not found ", " timed out ", " refused ", " denied ", "오류", "エラー", "失敗", "错误", "失败"}
)

func isDecision(s string) bool { return containsWord(s, decisionWords) }

func isFailure(s string) bool {
	return containsWord(s, failureWords) || strings.Contains(s, "--- FAIL") || strings.Contains(s, "FAILED") ||
		strings.Contains(s, "Error:") || strings.Contains(s, "Exception:")
}

// containsWord reports whether s contains one of the words with its spaces.
func containsWord(s string, words []string) bool {
	s = " " + strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case r == '\'', r >= utf8.RuneSelf, isLetter(r):
			return r
		}
		return ' '
	}, s) + " "
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// minTerms is the share of the terms of a statement, in hundredths, that a text must contain to contain the statement.
const minTerms = 60

// containsMost reports whether most of the terms of a statement are among those of a text.
func containsMost(terms []int32, in map[int32]bool) bool {
	if len(terms) == 0 {
		return false
	}
	n := 0
	for _, t := range terms {
		if in[t] {
			n++
		}
	}
	return n*100 >= minTerms*len(terms)
}
