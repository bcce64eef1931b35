package scanner

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/memvcs/mem/layers/redact/lexical"
)

// TestEach compares the pass over texts full of keywords, cut off and changed anywhere, with a search for each keyword at each place.
func TestEach(t *testing.T) {
	t.Parallel()
	k, rnd := builtin(), rand.New(rand.NewPCG(4, 2))
	for range 3000 {
		var text []byte
		for range rnd.IntN(9) {
			w := k.words[rnd.IntN(len(k.words))].text
			text = append(text, w[:rnd.IntN(len(w)+1)]...)
			for range rnd.IntN(5) {
				text = append(text, byte(rnd.IntN(256)))
			}
			if rnd.IntN(2) == 0 {
				text = append(text, w...)
			}
		}
		for i := range text {
			if c := text[i]; rnd.IntN(3) == 0 && 'a' <= c && c <= 'z' {
				text[i] -= 'a' - 'A'
			}
		}
		found := map[string]bool{}
		last := 0
		k.each(text, func(at int, w *word) {
			if at < last || !lexical.HasFold(text[at:], w.text) {
				t.Errorf("in %q: %q at %d, after %d", text, w.text, at, last)
			}
			found[fmt.Sprint(at, w.text)], last = true, at
		})
		for at := range text {
			for i := range k.words {
				w := &k.words[i]
				end := at + len(w.text)
				if !lexical.HasFold(text[at:], w.text) || w.next != nil && (end == len(text) || !w.next.Has(text[end])) {
					continue
				}
				if !found[fmt.Sprint(at, w.text)] {
					t.Fatalf("in %q: no %q at %d", text, w.text, at)
				}
			}
		}
	}
}
