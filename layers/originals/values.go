package originals

import (
	"bytes"
	"math/bits"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Holds reports whether b contains one of the needles.
func Holds(b []byte, needles [][]byte) bool {
	return slices.ContainsFunc(needles, func(n []byte) bool { return bytes.Contains(b, n) })
}

// Mask overwrites spots of a JSON value, or of a line that is not JSON, so that a JSON value remains valid: digits in
// numbers with nines, other bytes with stars, which no rule for secrets mistakes for digits.
func Mask(value []byte, spots [][2]int) {
	json, quoted, at := len(value) > 0 && (value[0] == '{' || value[0] == '['), false, 0
	for _, s := range spots {
		for ; at < s[0]; at++ {
			switch value[at] {
			case '\\':
				at++
			case '"':
				quoted = !quoted
			}
		}
		c := byte('*')
		if spot := value[s[0]:s[1]]; strings.Trim(string(spot), "0123456789") == "" && json && !quoted {
			c = '9'
		}
		for i := s[0]; i < s[1]; i++ {
			value[i] = c
		}
	}
}

// PlacesOf returns the spans of the needles in b, sorted; overlapping spans are joined.
func PlacesOf(b []byte, needles [][]byte) [][2]int {
	var out [][2]int
	for _, n := range needles {
		for at := 0; ; {
			i := bytes.Index(b[at:], n)
			if i < 0 {
				break
			}
			out = append(out, [2]int{at + i, at + i + len(n)})
			at += i + 1
		}
	}
	return Joined(out)
}

// Joined sorts spans and joins overlapping ones.
func Joined(spans [][2]int) [][2]int {
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	var out [][2]int
	for _, s := range spans {
		if n := len(out); n > 0 && s[0] < out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], s[1])
			continue
		}
		out = append(out, s)
	}
	return out
}

// Placeholder returns the record of n bytes that replaces a deleted message, so that the numbers of messages and the
// offsets in the file do not change. That of a prompt says so: what was answered to it is not the answer to the one before.
func Placeholder(n int, opaque, prompt bool) []byte {
	prefix := `{"type":"forgotten"`
	if prompt && n > len(prefix)+len(ofPrompt) {
		prefix += ofPrompt
	}
	switch {
	case opaque:
		return bytes.Repeat([]byte("?"), n)
	case n <= len(prefix):
		return []byte("{" + strings.Repeat(" ", max(0, n-2)) + "}")
	}
	return []byte(prefix + strings.Repeat(" ", n-len(prefix)-1) + "}")
}

const ofPrompt = `,"of":"prompt"`

// IsPrompt reports whether a record has a text of the user, or is the placeholder of one.
func IsPrompt(raw []byte) bool {
	r := gjson.ParseBytes(raw)
	switch r.Get("type").String() {
	case "user":
		content := r.Get("message.content")
		return !r.Get("isMeta").Bool() && !r.Get("isSidechain").Bool() && !r.Get("isCompactSummary").Bool() &&
			!r.Get("toolUseResult").Exists() && !content.Get(`#(type=="tool_result")`).Exists() &&
			!strings.HasPrefix(content.String(), "<")
	case "queue-operation":
		return r.Get("operation").String() == "enqueue"
	case "attachment":
		return r.Get("attachment.type").String() == "queued_command"
	case "forgotten":
		return r.Get("of").String() == "prompt"
	}
	return false
}

// A SealedValue identifies a deleted value in a text. Without this device's key, the value cannot be read, and a guess
// cannot be tested.
type SealedValue struct {
	Length int    `json:"length"`
	Roll   uint64 `json:"roll"` // see [Roll]
	Seal   string `json:"seal"`
}

// prime is the modulus of the rolling hash.
const prime = 1<<61 - 1

func mulmod(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	s := (lo & prime) + (lo>>61 | hi<<3)
	if s = (s & prime) + s>>61; s >= prime {
		s -= prime
	}
	return s
}

// Roll returns the keyed rolling hash of b.
func Roll(b []byte, key uint64) (h uint64) {
	for _, c := range b {
		h = (mulmod(h, key) + uint64(c) + 1) % prime
	}
	return h
}

// FindSealed returns the spans in b of the given length whose rolling hash is wanted and that sure confirms.
func FindSealed(b []byte, length int, key uint64, wanted func(roll uint64) bool, sure func([]byte) bool) [][2]int {
	if length <= 0 || len(b) < length {
		return nil
	}
	top := uint64(1) // key^(length-1)
	for range length - 1 {
		top = mulmod(top, key)
	}
	h := Roll(b[:length], key)
	var out [][2]int
	for i := 0; ; i++ {
		if wanted(h) && sure(b[i:i+length]) {
			out = append(out, [2]int{i, i + length})
		}
		if i+length == len(b) {
			return out
		}
		h = (h + prime - mulmod(top, uint64(b[i])+1)) % prime
		h = (mulmod(h, key) + uint64(b[i+length]) + 1) % prime
	}
}
