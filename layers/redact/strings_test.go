package redact

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unicode/utf8"
)

// unquoteOne is Unquote, a character at a time.
func unquoteOne(raw []byte) (out []byte) {
	for len(raw) > 0 {
		if raw[0] != '\\' || len(raw) == 1 {
			out, raw = append(out, raw[0]), raw[1:]
			continue
		}
		r, size := Unescape(raw)
		out, raw = utf8.AppendRune(out, r), raw[size:]
	}
	return out
}

// TestUnquote compares strings of every length, with escapes at every place, whole and cut off, with their decoding a character at a
// time.
func TestUnquote(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 3))
	pieces := []string{"a", "ä", "결", `\n`, `\"`, `\\`, `\/`, `\u00e4`, `\ud83d\ude00`, `\ud83d`, `\x`, `\`, `\u12`, "plain text that is long", "\x00", "\xff"}
	for range 20_000 {
		var raw []byte
		for range rnd.IntN(12) {
			raw = append(raw, pieces[rnd.IntN(len(pieces))]...)
		}
		raw = raw[:rnd.IntN(len(raw)+1)]
		before := []byte("before")
		if got, want := unquote(before[:rnd.IntN(7)], raw), unquoteOne(raw); !bytes.HasSuffix(got, want) || len(got)-len(want) > 6 {
			t.Fatalf("Unquote(%q) = %q, want %q", raw, got, want)
		}
	}
}
