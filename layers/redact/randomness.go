package redact

import (
	"bytes"
	"math"
	"strings"
)

// traits counts the characters of a value by class. Strange are symbols other than -_./:,=+.
type traits struct{ Lower, Upper, Digits, Symbols, Strange int }

// traitsOf returns the traits of value.
func traitsOf(value []byte) (t traits) {
	for _, c := range value {
		switch {
		case 'a' <= c && c <= 'z':
			t.Lower++
		case 'A' <= c && c <= 'Z':
			t.Upper++
		case '0' <= c && c <= '9':
			t.Digits++
		default:
			t.Symbols++
			if !strings.ContainsRune("-_./:,=+", rune(c)) {
				t.Strange++
			}
		}
	}
	return t
}

// Random reports whether a part of value mixes letters and digits as no handwritten word does.
func Random(value []byte) bool {
	for len(value) > 0 {
		n := Alnum.Run(value, len(value))
		if n == 0 {
			value = value[1:]
			continue
		}
		if randomWord(value[:n]) {
			return true
		}
		value = value[n:]
	}
	return false
}

// randomWord is [Random] for a run of letters and digits.
func randomWord(w []byte) bool {
	if len(w) < 8 {
		return false
	}
	changes, last, digit, upper, low := 0, -1, 0, 0, 0
	for _, c := range w {
		class := 0
		switch {
		case c <= '9':
			class = 1
			digit++
		case c <= 'Z':
			class = 2
			upper++
		default:
			low++
		}
		if last >= 0 && class != last {
			changes++
		}
		last = class
	}
	if digit == 0 && len(w) < 20 {
		return len(w) >= 12 && CaseChanges(w) > 1
	}
	if digit == 0 {
		return len(w) >= 20 && upper > 0 && low > 0 && changes*4 >= len(w) && Entropy(w) > 3.7
	}
	return changes >= 3 && changes*8 >= len(w) && Entropy(w) > 2.6 || digit == len(w) && len(w) >= 24
}

// CaseChanges returns how often upper and lower case alternate in w as in no sequence of words: a lower-case letter
// between capitals, and every run of capitals after the first.
func CaseChanges(w []byte) (n int) {
	runs := 0
	for i := 1; i+1 < len(w); i++ {
		if w[i] >= 'a' && w[i-1] < 'a' && w[i+1] < 'a' {
			n++
		}
		if w[i] < 'a' && w[i-1] < 'a' && w[i+1] >= 'a' {
			runs++
		}
	}
	return n + max(0, runs-1)
}

// dashedWords reports whether value is plain words joined by dashes, dots, underscores, slashes or colons.
func dashedWords(value []byte) bool {
	parts := bytes.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("-_./:", r) })
	if len(parts) < 2 {
		return false
	}
	for _, p := range parts {
		letters := 0
		for _, c := range p {
			if !Alnum.Has(c) {
				return false
			}
			if c > '9' {
				letters++
			}
		}
		if letters > 0 && letters < len(p) && randomWord(p) {
			return false
		}
		if letters > 0 && letters < len(p) && len(p) > 3 && !letterThenDigit(p) {
			return false
		}
	}
	return true
}

// letterThenDigit reports whether word is letters followed by optional digits.
func letterThenDigit(word []byte) bool {
	n := 0
	for n < len(word) && word[n] > '9' {
		n++
	}
	return Digits.Run(word[n:], len(word)) == len(word)-n
}

// repeats reports whether text has at most three different characters.
func repeats(text []byte) bool {
	var seen byteSet
	n := 0
	for _, c := range text {
		if !seen.Has(c) {
			seen[c>>6] |= 1 << (c & 63)
			n++
		}
	}
	return n <= 3
}

// Entropy returns the Shannon entropy of text in bits per byte.
func Entropy(text []byte) float64 {
	var counts [256]int
	for _, c := range text {
		counts[c]++
	}
	var bits float64
	n := float64(len(text))
	for _, k := range counts {
		if k > 0 {
			p := float64(k) / n
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
