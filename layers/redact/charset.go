package redact

import (
	"cmp"
)

// isUUID reports whether value is a UUID. A UUID usually identifies something and is not a secret.
func isUUID(value []byte) bool {
	if len(value) != 36 {
		return false
	}
	for i, c := range value {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') || !dash && !hexAny.Has(c) {
			return false
		}
	}
	return true
}

// lower maps ASCII upper-case letters to lower case and every other byte to itself.
var lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] += 'a' - 'A'
		}
	}
	return t
}()

// hasFold reports whether text begins with word in any case. word must be lower case.
func hasFold(text []byte, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if lower[text[i]] != word[i] {
			return false
		}
	}
	return true
}

// indexFold returns the offset of the first occurrence of word in text in any case, -1 if there is none. word must be
// lower case. Unlike an index in the lower case of text, the offset is correct for text that is not UTF-8.
func indexFold(text []byte, word string) int {
	for i := 0; i+len(word) <= len(text); i++ {
		if hasFold(text[i:], word) {
			return i
		}
	}
	return -1
}

// A byteSet is a set of bytes.
type byteSet [4]uint64

// setOf returns the set of the bytes of chars.
func setOf(chars string) byteSet { return byteSet{}.With(chars) }

// With returns s and the bytes of chars.
func (s byteSet) With(chars string) byteSet {
	for i := range len(chars) {
		s[chars[i]>>6] |= 1 << (chars[i] & 63)
	}
	return s
}

// Without returns s except for the bytes of chars.
func (s byteSet) Without(chars string) byteSet {
	for i := range len(chars) {
		s[chars[i]>>6] &^= 1 << (chars[i] & 63)
	}
	return s
}

// Has reports whether c is in s.
func (s *byteSet) Has(c byte) bool { return s[c>>6]>>(c&63)&1 == 1 }

// Run returns how many bytes at the start of text are in s, at most limit.
func (s *byteSet) Run(text []byte, limit int) int {
	n := min(limit, len(text))
	for i, c := range text[:n] {
		if !s.Has(c) {
			return i
		}
	}
	return n
}

// RunBack returns how many bytes at the end of text are in s, at most limit.
func (s *byteSet) RunBack(text []byte, limit int) int {
	n := 0
	for n < limit && n < len(text) && s.Has(text[len(text)-1-n]) {
		n++
	}
	return n
}

// seenRule is the name of the rule that finds further occurrences of a known secret.
const seenRule = "seen"

// compareRules orders the names of rules. seenRule comes last because it is the least specific.
func compareRules(a, b string) int {
	return cmp.Or(boolInt(a == seenRule)-boolInt(b == seenRule), cmp.Compare(a, b))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

var (
	Alnum       = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	wordChars   = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
	urlChars    = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-")
	dottedChars = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.")
	Base64      = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-+/")
	Upper       = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
	upperDigits = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	Digits      = setOf("0123456789")
	hexLow      = setOf("0123456789abcdef")
	hexAny      = setOf("0123456789abcdefABCDEF")
	lowerDigits = setOf("abcdefghijklmnopqrstuvwxyz0123456789")
	paypal      = setOf("abcdefghijklmnopqrstuvwxyz0123456789$")
	Percent     = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-%")
	bech32      = setOf("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")
)
