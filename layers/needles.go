package layers

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// spellings returns the forms in which a value stands in transcripts and other files: as it is, as a part of a JSON string, once
// and twice, percent-encoded, and inside base64 wherever it begins.
func spellings(value []byte) [][]byte {
	out := [][]byte{value}
	add := func(b []byte) {
		if len(b) >= MinSecret && !slices.ContainsFunc(out, func(o []byte) bool { return bytes.Equal(o, b) }) {
			out = append(out, b)
		}
	}
	once := jsonInside(value)
	add(once)
	add(jsonInside(once))
	add(bytes.ReplaceAll(once, []byte("/"), []byte(`\/`)))
	if plain, err := json.Marshal(string(value)); err == nil { // with < > & as numbers
		add(plain[1 : len(plain)-1])
	}
	for _, format := range []string{"%%%02X", "%%%02x"} {
		var b strings.Builder
		for _, c := range value {
			if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("-_.~", c) >= 0 {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, format, c)
			}
		}
		add([]byte(b.String()))
	}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 { // bytes before the value in its group of three
			text := enc.EncodeToString(append(make([]byte, shift), value...))
			first := (shift*8 + 5) / 6           // digits that hold bits of what stands before
			last := (shift + len(value)) * 8 / 6 // those behind hold bits of what follows
			if last-first >= 8 {
				add([]byte(text[first:last]))
			}
		}
	}
	return out
}

// MinSecret is how long a value must be at least to be forgotten wherever it stands.
const MinSecret = 6

func jsonInside(value []byte) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(string(value)) != nil {
		return value // a string always encodes
	}
	return b.Bytes()[1 : b.Len()-2]
}

// holds reports whether b holds one of some texts.
func holds(b []byte, needles [][]byte) bool {
	return slices.ContainsFunc(needles, func(n []byte) bool { return bytes.Contains(b, n) })
}

// blot replaces the spots of a value of JSON, or of a line that is none, by as many other bytes, so that a JSON value stays one: in numbers
// by nines, elsewhere by stars, which no rule takes for digits. Devices that forgot digits before there were stars in strings go on with nines.
func blot(value []byte, spots [][2]int, nines func(spot []byte) bool) {
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
		if spot := value[s[0]:s[1]]; strings.Trim(string(spot), "0123456789") == "" && (json && !quoted || nines(spot)) {
			c = '9'
		}
		for i := s[0]; i < s[1]; i++ {
			value[i] = c
		}
	}
}

// places returns where the needles stand in b, in order, joined where they overlap.
func placesOf(b []byte, needles [][]byte) [][2]int {
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
	return joined(out)
}

func joined(spans [][2]int) [][2]int {
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

// placeholder is a record of the length n that says only that something was forgotten. It keeps the numbers of all messages, and
// where everything behind it stands in the file.
func placeholder(n int, opaque bool) []byte {
	const says = `{"type":"forgotten"`
	switch {
	case opaque:
		return bytes.Repeat([]byte("?"), n)
	case n <= len(says):
		return []byte("{" + strings.Repeat(" ", max(0, n-2)) + "}")
	}
	return []byte(says + strings.Repeat(" ", n-len(says)-1) + "}")
}

// A sealedValue is a value that nobody can read or test a guess of without this device's key, and that can be found in a text.
type sealedValue struct {
	Length int    `json:"length"`
	Roll   uint64 `json:"roll"` // keyed rolling hash
	Seal   string `json:"seal"`
	Stars  bool   `json:"stars,omitempty"` // digits in strings became stars
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

// roll returns the rolling hash of b with a key.
func roll(b []byte, key uint64) (h uint64) {
	for _, c := range b {
		h = (mulmod(h, key) + uint64(c) + 1) % prime
	}
	return h
}

// findSealed returns where sealed values of one length stand in b; sure looks at a place where one seems to.
func findSealed(b []byte, length int, key uint64, wanted func(roll uint64) bool, sure func([]byte) bool) [][2]int {
	if length <= 0 || len(b) < length {
		return nil
	}
	top := uint64(1) // key^(length-1)
	for range length - 1 {
		top = mulmod(top, key)
	}
	h := roll(b[:length], key)
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
