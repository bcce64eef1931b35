package redact

import (
	"math/rand/v2"
	"testing"

	"github.com/memvcs/mem/layers/redact/lexical"
	"github.com/memvcs/mem/layers/redact/scanner"
)

// slowUnit is unit, byte by byte.
func slowUnit(b []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\n' && (quoted || depth == 0):
			return i + 1
		case quoted && c == '\\':
			if i+1 < len(b) && b[i+1] != '\n' {
				i++
			}
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return i + 1 + scanner.Blank(b[i+1:])
			}
		}
	}
	return len(b)
}

// TestUnit compares unit with a walk byte by byte.
func TestUnit(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(21, 22))
	for range 200_000 {
		b := make([]byte, rng.IntN(24))
		for i := range b {
			b[i] = "{}[]\"\"\\\n a,:"[rng.IntN(12)]
		}
		if got, want := unit(b, lineEnd(b)), slowUnit(b); got != want {
			t.Fatalf("unit(%q) = %d, want %d", b, got, want)
		}
	}
}

// TestReadable64 compares readable64 with decoding first.
func TestReadable64(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(23, 24))
	yes := 0
	for range 200_000 {
		b := make([]byte, scanner.MinEncoded)
		for i := range b {
			b[i] = "abYXZ0123cGFzc3dvcmQ9Iiw"[rng.IntN(24)]
		}
		got, want := scanner.Readable64(b), lexical.Readable(lexical.Decode64(nil, b))
		if got != want {
			t.Fatalf("readable64(%q) = %v, want %v", b, got, want)
		}
		if got {
			yes++
		}
	}
	if yes == 0 {
		t.Error("nothing was readable")
	}
}
