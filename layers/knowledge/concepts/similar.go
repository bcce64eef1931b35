package concepts

import (
	"fmt"
	"strings"
	"unicode"
)

func labelOf(n int) string { return fmt.Sprintf("c%03d", n) }

// Similar returns the live concepts other than but with almost the same name: the same words, or one letter in six
// different, with the same digits. It is meant for a warning; nothing is ever merged because of it.
func (s *Set) Similar(name string, but *Concept) []*Concept {
	var out []*Concept
	for _, c := range s.Live() {
		if (but == nil || c.Record != but.Record) && similarNames(name, c.Name) {
			out = append(out, c)
		}
	}
	return out
}

func similarNames(a, b string) bool {
	as, bs := nameWords(a), nameWords(b)
	if len(as) == 0 || len(bs) == 0 || digits(a) != digits(b) {
		return false
	}
	shared := 0
	for w := range as {
		if bs[w] {
			shared++
		}
	}
	if shared*4 >= 3*max(len(as), len(bs)) {
		return true
	}
	x, y := []rune(squash(a)), []rune(squash(b))
	return distance(x, y)*6 <= max(len(x), len(y))
}

// nameWords returns the words of a name in lower case, without plural s and stop words.
func nameWords(s string) map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			w = w[:len(w)-1]
		}
		switch w {
		case "the", "a", "an", "of", "for", "and", "in", "to", "with", "on":
		default:
			words[w] = true
		}
	}
	return words
}

// digits returns the digits of s: phase 1 is not phase 2.
func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// squash returns the letters and digits of s in lower case.
func squash(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// distance returns the edit distance of a and b.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for k := range row {
		row[k] = k
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for k, y := range b {
			change := diagonal
			if x != y {
				change++
			}
			diagonal = row[k+1]
			row[k+1] = min(change, row[k]+1, row[k+1]+1)
		}
	}
	return row[len(b)]
}
