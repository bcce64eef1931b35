package markers

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects"
)

// Spellings returns the forms of a value in transcripts and other files: unchanged, inside a JSON string, once and
// twice, percent-encoded, and inside base64 at any offset.
func Spellings(value []byte) [][]byte {
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
		for shift := range 3 { // bytes of its group of three before the value
			text := enc.EncodeToString(append(make([]byte, shift), value...))
			first := (shift*8 + 5) / 6           // digits with bits of the preceding text
			last := (shift + len(value)) * 8 / 6 // later digits contain bits of the following text
			if last-first >= 8 {
				add([]byte(text[first:last]))
			}
		}
	}
	return out
}

// MinSecret is the minimum length of a value that can be forgotten everywhere.
const MinSecret = 6

func jsonInside(value []byte) []byte {
	b, err := objects.EncodeJSON(string(value))
	if err != nil {
		return value // a string always encodes
	}
	return b[1 : len(b)-1]
}
