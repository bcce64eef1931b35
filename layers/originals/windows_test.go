package originals_test

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/originals"
)

// TestWindows looks for needles in what is written in pieces of any length: what bytes.Contains finds is found, wherever pieces end.
func TestWindows(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(31, 32))
	for range 60 {
		text := bytes.Repeat([]byte("abcdefgh"), rng.IntN(3*originals.WindowSize/8))
		needle := []byte("needle in a stack")[:2+rng.IntN(15)]
		if at := rng.IntN(len(text) + 1); rng.IntN(3) > 0 {
			if rng.IntN(2) == 0 && len(text) > originals.WindowSize+20 { // over the end of a window
				at = originals.WindowSize - 10 + rng.IntN(20)
			}
			text = slices.Insert(text, at, needle...)
		}
		w := originals.NeedleWindows([][]byte{[]byte("not there, and longer"), needle})
		for rest := text; len(rest) > 0; {
			n := min(len(rest), 1+rng.IntN(2*originals.WindowSize))
			if k, err := w.Write(rest[:n]); k != n || err != nil {
				t.Fatal(k, err)
			}
			rest = rest[n:]
		}
		if got, want := w.Done(), bytes.Contains(text, needle); got != want {
			t.Errorf("%d bytes, needle %q: %v, want %v", len(text), needle, got, want)
		}
	}
}

// FuzzLines compares what is found in a text that is written in pieces with what is found in its lines.
func FuzzLines(f *testing.F) {
	f.Add("^b+$", "a\nbbbb\nc", 3)
	f.Add("x$", "aaaaaax", 1)
	f.Add("한", "aa한\n\n", 4)
	f.Add("", "", 1)
	f.Fuzz(func(t *testing.T, expr, text string, size int) {
		re, err := regexp.Compile(expr)
		if err != nil || size < 1 {
			t.Skip()
		}
		w := originals.Lines(re.Match)
		for part := range slices.Chunk([]byte(text), size) {
			if n, err := w.Write(part); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if got, want := w.Done(), slices.ContainsFunc(strings.Split(text, "\n"), re.MatchString); got != want {
			t.Errorf("%q in %q: %v, want %v", expr, text, got, want)
		}
	})
}
