package trace

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/compress/anchors"
)

// The kinds of what a text holds, in the order in which they are told.
var kinds = [...]string{"decisions", "commands", "files", "errors", "symbols"}

const (
	decisions = iota
	commands
	files
	errorLines
	symbols
)

// An Anchors says what of one kind two sides hold.
type Anchors struct {
	Kind   string   `json:"kind"`
	A      int      `json:"a"` // how many different ones each side has
	B      int      `json:"b"`
	Lost   []string `json:"lost"`   // that b does not have, in the order of a
	Gained []string `json:"gained"` // that a does not have, in the order of b
}

// statement is a decision, command or error: it is the same in other words, if most of its terms are there.
type statement struct {
	kind int
	text string
}

// holding is a statement, or the name of a file or symbol.
type holding struct {
	statement
	said string // its text without what says nothing
}

// A set is what was met, by kind.
type set map[[2]uint64]struct{}

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// key stands for a text of a kind within this process: two never have the same one.
func key(kind int, text string) [2]uint64 {
	return [2]uint64{maphash.String(seeds[0], text) + uint64(kind), maphash.String(seeds[1], text)}
}

func (s set) has(kind int, text string) bool {
	_, ok := s[key(kind, text)]
	return ok
}

// said reports whether a text was met as a statement.
func (s set) said(text string) bool {
	return s.has(decisions, text) || s.has(commands, text) || s.has(errorLines, text)
}

// add reports whether a text was not met yet.
func (s set) add(kind int, text string) bool {
	k := key(kind, text)
	if _, ok := s[k]; ok {
		return false
	}
	s[k] = struct{}{}
	return true
}

// eachHolding yields what the lines of a piece hold that was not met yet. It may find too much, but finds the
// same in equal lines.
func eachHolding(p spoken, met set, yield func(holding)) {
	for line := range strings.SplitSeq(p.text, "\n") {
		for _, s := range statements(p.Piece, line) {
			said := s.text
			if p.Role == "tool" && strings.HasPrefix(line, "$ ") {
				said = anchors.ShortCommand("$ " + said) // one that only lost its pager is not lost
			}
			if met.add(s.kind, said) {
				yield(holding{s, said})
			}
		}
		compress.EachAnchor(line, func(a string) {
			kind := symbols
			switch {
			case compress.IsFile(a):
				kind = files
			case !compress.IsSymbol(a):
				return
			}
			if met.add(kind, a) {
				yield(holding{statement{kind, a}, a})
			}
		})
	}
}

// longest is up to which length a line is looked at for statements; longer ones are data.
const longest = 2000

// statements returns the decisions, commands and errors of a line.
func statements(p *Piece, line string) []statement {
	line = strings.TrimSpace(line)
	if line == "" || len(line) > longest {
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
		if failure(line) && !listed(line) {
			out = append(out, statement{kind: errorLines, text: line})
		}
		return out
	}
	for s := range sentences(line) {
		switch {
		case p.Keep != "" || decision(s):
			out = append(out, statement{kind: decisions, text: s})
		case failure(s):
			out = append(out, statement{kind: errorLines, text: s})
		}
	}
	return out
}

// listed reports whether a line is one of a file that was read, with its number.
func listed(line string) bool {
	rest := strings.TrimLeft(line, "0123456789")
	return len(rest) < len(line) && strings.HasPrefix(rest, "→")
}

// sentences cuts a line behind full stops and the like.
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

// Words by which a decision or a failure is known. They are looked for in lower case, between spaces.
var (
	decisive = []string{" decided ", " decide ", " decision ", " we use ", " we will use ", " we'll use ", " let's use ",
		" use only ", " instead of ", " rather than ",
		" never ", " always ", " must ", " must not ", " should not ", " do not ", " don't ", " chose ", " choose ",
		" chosen ", " go with ", " agreed ", " stick to ", " from now on ",
		" switch to ", " replaced by ", " no longer ", "결정", "사용하기로", "하지 마", "決定", "採用", "使うこと", "决定", "采用", "必须", "不要"}
	failing = []string{" error ", " errors ", " failed ", " fails ", " failure ", " panic ", " fatal ", " exception ",
		" traceback ", " segfault ", " undefined ", " cannot find ",
		" not found ", " timed out ", " refused ", " denied ", "오류", "エラー", "失敗", "错误", "失败"}
)

func decision(s string) bool { return mentions(s, decisive) }

func failure(s string) bool {
	return mentions(s, failing) || strings.Contains(s, "--- FAIL") || strings.Contains(s, "FAILED") ||
		strings.Contains(s, "Error:") || strings.Contains(s, "Exception:")
}

// mentions reports whether one of the words, in its spaces, is in s.
func mentions(s string, words []string) bool {
	s = " " + strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case r == '\'', r >= utf8.RuneSelf, kindOf(r) == letter:
			return r
		}
		return ' '
	}, s) + " "
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// there is which share of the terms of a statement must be in a text, in hundredths, for it to be there.
const there = 60

// holds reports whether most of the terms of a statement are among those of a text.
func holds(terms []int32, in map[int32]bool) bool {
	if len(terms) == 0 {
		return false
	}
	n := 0
	for _, t := range terms {
		if in[t] {
			n++
		}
	}
	return n*100 >= there*len(terms)
}
