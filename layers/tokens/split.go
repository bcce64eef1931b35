package tokens

import (
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// class is a bit set of the character classes in the o200k pattern.
type class uint8

const (
	upper  class = 1 << iota // Lu Lt Lm Lo M: may start a word
	lower                    // Ll Lm Lo M: may end a word
	digit                    // N
	space                    // \s
	eol                      // \r \n
	letter                   // L
	slash
)

var ascii = func() (t [utf8.RuneSelf]class) {
	for r := range t {
		t[r] = classOf(rune(r))
	}
	return t
}()

func classOf(r rune) class {
	switch {
	case r == '\n' || r == '\r':
		return space | eol
	case r == '/':
		return slash
	case unicode.In(r, unicode.Ll):
		return lower | letter
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper | letter
	case unicode.In(r, unicode.Lm, unicode.Lo):
		return upper | lower | letter
	case unicode.In(r, unicode.M):
		return upper | lower
	case unicode.In(r, unicode.N):
		return digit
	case unicode.IsSpace(r) || unicode.In(r, unicode.Z):
		return space
	}
	return 0
}

func at(s string, i int) (class, int) {
	if i >= len(s) {
		return 0, 0
	}
	if c := s[i]; c < utf8.RuneSelf {
		return ascii[c], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if r >= rune(len(classes)) {
		return classOf(r), n
	}
	c := classes[r].Load()
	if c == 0 {
		c = uint32(classOf(r)) | known
		classes[r].Store(c)
	}
	return class(c), n
}

// classes caches the classes of runes; cached entries have the bit known.
var classes [1 << 16]atomic.Uint32

const known = 1 << 8

// run returns the end of the run of runes from i on in any of the sets.
func run(s string, i int, sets class) int {
	for {
		c, n := at(s, i)
		if n == 0 || c&sets == 0 {
			return i
		}
		i += n
	}
}

// piece returns the length of the piece at the start of s, as the pattern of o200k splits it:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func piece(s string) int {
	c, n := at(s, 0)
	prefix := 0
	if c&(eol|letter|digit) == 0 {
		prefix = n
	}
	if e := word(s, prefix); e > 0 {
		return contraction(s, e)
	}
	if prefix > 0 {
		if e := word(s, 0); e > 0 {
			return contraction(s, e)
		}
	}
	// no lower case letter: a run of upper case ones
	if e := run(s, prefix, upper); e > prefix {
		return contraction(s, e)
	}
	if e := run(s, 0, upper); e > 0 {
		return contraction(s, e)
	}
	if c&digit != 0 {
		return digits(s)
	}
	first := 0
	if s[0] == ' ' {
		first = 1
	}
	if e := symbols(s, first); e > first {
		return run(s, e, eol|slash)
	}
	return blank(s)
}

// word matches upper* lower+ from i on and returns its end, 0 if it does not match.
func word(s string, i int) int {
	back, k := 0, i // back: end of the last rune of the upper run that is also lower
	for {
		c, n := at(s, k)
		if n == 0 || c&upper == 0 {
			break
		}
		k += n
		if c&lower != 0 {
			back = k
		}
	}
	if e := run(s, k, lower); e > k {
		return e
	}
	return back
}

func contraction(s string, i int) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return i
	}
	r, n := utf8.DecodeRuneInString(s[i+1:])
	two := ""
	if i+3 <= len(s) {
		two = string([]byte{s[i+1] | 0x20, s[i+2] | 0x20})
	}
	switch {
	case r == 's' || r == 'S' || r == 'ſ' || r == 't' || r == 'T' || r == 'm' || r == 'M' || r == 'd' || r == 'D':
		return i + 1 + n
	case two == "re" || two == "ve" || two == "ll":
		return i + 3
	}
	return i
}

func digits(s string) int {
	i := 0
	for range 3 {
		c, n := at(s, i)
		if c&digit == 0 {
			break
		}
		i += n
	}
	return i
}

func symbols(s string, i int) int {
	for {
		c, n := at(s, i)
		if n == 0 || c&(space|letter|digit) != 0 {
			return i
		}
		i += n
	}
}

// blank splits white space: up to the last line end, else before the last character if a word follows, else all of it.
func blank(s string) int {
	i, last, newline := 0, 0, 0
	for {
		c, n := at(s, i)
		if n == 0 || c&space == 0 {
			break
		}
		last = i
		i += n
		if c&eol != 0 {
			newline = i
		}
	}
	switch {
	case newline > 0:
		return newline
	case i == len(s) || last == 0:
		return i
	}
	return last
}
