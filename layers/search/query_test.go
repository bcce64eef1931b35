package search

import "testing"

// TestComposed: a query with decomposed accents is that with composed ones, which the indexes have.
func TestComposed(t *testing.T) {
	t.Parallel()
	q := composed(Query{Words: "cafe\u0301", Phrases: []string{"u\u0308ber"}})
	if q.Words != "caf\u00e9" || q.Phrases[0] != "\u00fcber" {
		t.Errorf("composed = %q, %q", q.Words, q.Phrases)
	}
}
