package trace

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// An Op says on which side of a comparison something is.
type Op byte

// The operations.
const (
	Same Op = ' '
	Del  Op = '-' // only in the first
	Add  Op = '+' // only in the second
)

// An Edit is a run of text that both sides have, or only one.
type Edit struct {
	Op   Op     `json:"op"`
	Text string `json:"text"`
}

// MarshalText writes the operation as a sign.
func (o Op) MarshalText() ([]byte, error) { return []byte{byte(o)}, nil }

// Words compares two texts word by word. Joining the texts that are not Add gives a, those that are not Del give b;
// equal texts give one edit at most. What a replacement took away stands before what it put there.
func Words(a, b string) []Edit {
	return join(compare(split(a), split(b)), "")
}

// Lines compares two lists of lines; the edits are one a line.
func Lines(a, b []string) []Edit { return compare(a, b) }

// join puts neighbours of one kind together.
func join(edits []Edit, sep string) []Edit {
	var out []Edit
	var parts []string
	flush := func() {
		if len(parts) > 0 {
			out[len(out)-1].Text = strings.Join(parts, sep)
			parts = parts[:0]
		}
	}
	for _, e := range edits {
		if n := len(out); n == 0 || out[n-1].Op != e.Op {
			flush()
			out = append(out, Edit{Op: e.Op})
		}
		parts = append(parts, e.Text)
	}
	flush()
	return out
}

// split cuts a text into words, runs of white space, and single other characters. Han, Kana and other
// characters that are written without spaces stand alone.
func split(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		j := i + n
		if k := kindOf(r); k != alone {
			for j < len(s) {
				r, n := utf8.DecodeRuneInString(s[j:])
				if kindOf(r) != k {
					break
				}
				j += n
			}
		}
		out = append(out, s[i:j])
		i = j
	}
	return out
}

type runeKind uint8

const (
	alone runeKind = iota
	letter
	space
)

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

// compare finds what two lists have in common, in order.
func compare(a, b []string) []Edit {
	ids := map[string]int32{}
	number := func(list []string) []int32 {
		out := make([]int32, len(list))
		for i, s := range list {
			id, ok := ids[s]
			if !ok {
				id = int32(len(ids))
				ids[s] = id
			}
			out[i] = id
		}
		return out
	}
	m := matcher{a: number(a), b: number(b)}
	m.count = make([][2]int32, len(ids))
	m.last = make([][2]int32, len(ids))
	m.match(0, len(a), 0, len(b))
	var out []Edit
	i, j := 0, 0
	for _, p := range append(m.pairs, [2]int{len(a), len(b)}) {
		for ; i < p[0]; i++ {
			out = append(out, Edit{Del, a[i]})
		}
		for ; j < p[1]; j++ {
			out = append(out, Edit{Add, b[j]})
		}
		if i < len(a) && j < len(b) {
			out = append(out, Edit{Same, a[i]})
			i, j = i+1, j+1
		}
	}
	return out
}
