package facts

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/search/terms"
)

// termsOf returns the terms of a text in their order, each once, without those of whole identifiers.
func termsOf(text string) (out []string) {
	seen := map[string]bool{}
	var c terms.Cutter
	c.Each(text, func(t terms.Term) {
		if s := string(t.Text); !t.Whole && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	})
	return out
}

// termSet contains the terms of texts, whole identifiers included.
func termSet(texts ...string) map[string]bool {
	out := map[string]bool{}
	var c terms.Cutter
	c.Each(strings.Join(texts, "\n"), func(t terms.Term) { out[string(t.Text)] = true })
	return out
}

// queryTerms returns the terms of a query, each once: of an identifier only the whole.
func queryTerms(query string) (out []string) {
	var at []int // where they start
	var c terms.Cutter
	c.Each(query, func(t terms.Term) {
		if t.Whole {
			n := len(at)
			for n > 0 && at[n-1] >= t.Start {
				n--
			}
			at, out = at[:n], out[:n]
		}
		if s := string(t.Text); !slices.Contains(out, s) {
			at, out = append(at, t.Start), append(out, s)
		}
	})
	return out
}
