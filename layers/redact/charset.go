package redact

import (
	"cmp"
)

// HostChars are the characters of the host name in a line of .pgpass.
var HostChars = DottedChars.With("*")

// IsUUID reports whether value is a UUID. A UUID usually identifies something and is not a secret.
func IsUUID(value []byte) bool {
	if len(value) != 36 {
		return false
	}
	for i, c := range value {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') || !dash && !HexAny.Has(c) {
			return false
		}
	}
	return true
}

// Lower maps ASCII upper-case letters to lower case and every other byte to itself.
var Lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] += 'a' - 'A'
		}
	}
	return t
}()

// HasFold reports whether text begins with word in any case. word must be lower case.
func HasFold(text []byte, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if Lower[text[i]] != word[i] {
			return false
		}
	}
	return true
}

// IndexFold returns the offset of the first occurrence of word in text in any case, -1 if there is none. word must be
// lower case. Unlike an index in the lower case of text, the offset is correct for text that is not UTF-8.
func IndexFold(text []byte, word string) int {
	for i := 0; i+len(word) <= len(text); i++ {
		if HasFold(text[i:], word) {
			return i
		}
	}
	return -1
}

// A ByteSet is a set of bytes.
type ByteSet [4]uint64

// SetOf returns the set of the bytes of chars.
func SetOf(chars string) ByteSet { return ByteSet{}.With(chars) }

// With returns s and the bytes of chars.
func (s ByteSet) With(chars string) ByteSet {
	for i := range len(chars) {
		s[chars[i]>>6] |= 1 << (chars[i] & 63)
	}
	return s
}

// Without returns s except for the bytes of chars.
func (s ByteSet) Without(chars string) ByteSet {
	for i := range len(chars) {
		s[chars[i]>>6] &^= 1 << (chars[i] & 63)
	}
	return s
}

// Has reports whether c is in s.
func (s *ByteSet) Has(c byte) bool { return s[c>>6]>>(c&63)&1 == 1 }

// Run returns how many bytes at the start of text are in s, at most limit.
func (s *ByteSet) Run(text []byte, limit int) int {
	n := min(limit, len(text))
	for i, c := range text[:n] {
		if !s.Has(c) {
			return i
		}
	}
	return n
}

// RunBack returns how many bytes at the end of text are in s, at most limit.
func (s *ByteSet) RunBack(text []byte, limit int) int {
	n := 0
	for n < limit && n < len(text) && s.Has(text[len(text)-1-n]) {
		n++
	}
	return n
}

// SeenRule is the name of the rule that finds further occurrences of a known secret.
const SeenRule = "seen"

// compareRules orders the names of rules. The rule Seen comes last because it is the least specific.
func compareRules(a, b string) int {
	return cmp.Or(boolInt(a == SeenRule)-boolInt(b == SeenRule), cmp.Compare(a, b))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

var (
	Alnum       = SetOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	WordChars   = SetOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
	URLChars    = SetOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-")
	DottedChars = SetOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.")
	Base64      = SetOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-+/")
	Upper       = SetOf("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
	UpperDigits = SetOf("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	Digits      = SetOf("0123456789")
	HexLow      = SetOf("0123456789abcdef")
	HexAny      = SetOf("0123456789abcdefABCDEF")
	LowerDigits = SetOf("abcdefghijklmnopqrstuvwxyz0123456789")
	Paypal      = SetOf("abcdefghijklmnopqrstuvwxyz0123456789$")
	Percent     = SetOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-%")
	Bech32      = SetOf("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")
)
