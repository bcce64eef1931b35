package redact

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// someWords returns words of three to twelve bytes, many with the same beginning.
func someWords(rnd *rand.Rand) (words []string) {
	const letters = "abcdehkopst_-:=/0 \u200b"
	for range 400 {
		var text []byte
		for range 3 + rnd.IntN(10) {
			text = append(text, letters[rnd.IntN(len(letters))])
		}
		if rnd.IntN(3) == 0 {
			text = text[:3]
		}
		words = append(words, string(text))
	}
	return words
}

// TestEach compares the pass over texts full of keywords, cut off and changed anywhere, with a search for each keyword
// at each offset.
func TestEach(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(4, 2))
	words := someWords(rnd)
	k := newWordSet(words)
	for range 3000 {
		text := textOf(rnd, words)
		found := map[string]bool{}
		last := [2]int{}
		k.Each(text, func(at, n int) {
			if at < last[0] || at == last[0] && n < last[1] || !hasFold(text[at:], words[n]) {
				t.Errorf("in %q: %q at %d, after %d", text, words[n], at, last)
			}
			found[fmt.Sprint(at, n)], last = true, [2]int{at, n}
		})
		for at := range text {
			for n, w := range words {
				if hasFold(text[at:], w) && !found[fmt.Sprint(at, n)] {
					t.Fatalf("in %q: no %q at %d", text, w, at)
				}
			}
		}
	}
}

// textOf returns a text of words and parts of them, in any case, with other bytes between them.
func textOf(rnd *rand.Rand, words []string) (text []byte) {
	for range rnd.IntN(9) {
		w := words[rnd.IntN(len(words))]
		text = append(text, w[:rnd.IntN(len(w)+1)]...)
		for range rnd.IntN(5) {
			text = append(text, byte(rnd.IntN(256)))
		}
		if rnd.IntN(2) == 0 {
			text = append(text, w...)
		}
	}
	for i, c := range text {
		if rnd.IntN(3) == 0 && 'a' <= c && c <= 'z' {
			text[i] -= 'a' - 'A'
		}
	}
	return text
}
