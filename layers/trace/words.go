package trace

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// An Op says which side of a comparison has something.
type Op byte

// The operations.
const (
	Same Op = ' '
	Del  Op = '-' // only in the first
	Add  Op = '+' // only in the second
)

// An Edit is a run of text on both sides or on one.
type Edit struct {
	Op   Op     `json:"op"`
	Text string `json:"text"`
}

// MarshalText returns the sign of the operation.
func (o Op) MarshalText() ([]byte, error) { return []byte{byte(o)}, nil }

// Words compares two texts word by word. The edits that are not Add, joined, are a; those that are not Del are b. Equal
// texts have at most one edit. In a replacement, deleted text precedes added text.
func Words(a, b string) []Edit {
	known := map[string]int32{}
	numbers := func(s string) (out []int32) {
		for s != "" {
			n := wordLen(s)
			out, s = append(out, number(known, s[:n])), s[n:]
		}
		return out
	}
	x, y := numbers(a), numbers(b)
	var out []Edit
	ops := editScript(x, y, len(known))
	begin, at := 0, [2]int{} // the start of the edit; the bytes of both texts before the word
	for i, op := range ops {
		text, side := a, 0
		if op == Add {
			text, side = b, 1
		}
		if i == 0 || ops[i-1] != op {
			begin = at[side]
		}
		n := wordLen(text[at[side]:])
		if at[side] += n; op == Same {
			at[1] += n
		}
		if i+1 == len(ops) || ops[i+1] != op {
			out = append(out, Edit{op, text[begin:at[side]]})
		}
	}
	return out
}

// number returns the number of an element, a new one if it is unknown.
func number[T comparable](known map[T]int32, x T) int32 {
	id, ok := known[x]
	if !ok {
		id = int32(len(known))
		known[x] = id
	}
	return id
}

// wordLen returns the length of the first word of a text: a word, a run of white space, or another character. Characters of
// scripts without spaces, such as Han and Kana, are separate.
func wordLen(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if k := kindOf(r); k != alone {
		if n = strings.IndexFunc(s, func(r rune) bool { return kindOf(r) != k }); n < 0 {
			n = len(s)
		}
	}
	return n
}

type runeKind uint8

const (
	alone runeKind = iota
	letter
	space
)

// isLetter reports whether r is part of a word that is compared as a whole.
func isLetter(r rune) bool { return kindOf(r) == letter }

func kindOf(r rune) runeKind {
	switch {
	case r < utf8.RuneSelf:
		switch {
		case r == ' ' || r == '\t':
			return space
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_':
			return letter
		}
		return alone
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
		return alone
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return letter
	}
	return alone
}

// listEdits returns the edit script of two lists. Each operation is about the next element of the lists that have it.
func listEdits[T comparable](a, b []T) []Op {
	known := map[T]int32{}
	numbered := func(list []T) []int32 {
		out := make([]int32, len(list))
		for i, x := range list {
			out[i] = number(known, x)
		}
		return out
	}
	x, y := numbered(a), numbered(b)
	return editScript(x, y, len(known))
}

// editScript is List for numbers less than n.
func editScript(a, b []int32, n int) []Op {
	m := matcher{a: a, b: b, left: maxReads * (len(a) + len(b)), count: make([][2]int32, n), last: make([]int32, n)}
	m.match(0, len(a), 0, len(b))
	out := make([]Op, 0, max(len(a), len(b)))
	put := func(op Op, n int) {
		for range n {
			out = append(out, op)
		}
	}
	i, j := 0, 0
	for _, r := range append(m.runs, run{int32(len(a)), int32(len(b)), 0}) {
		put(Del, int(r.a)-i)
		put(Add, int(r.b)-j)
		put(Same, int(r.n))
		i, j = int(r.a+r.n), int(r.b+r.n)
	}
	return out
}
