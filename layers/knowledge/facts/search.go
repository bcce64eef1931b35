package facts

import (
	"cmp"
	"slices"
)

// A Hit is a search result.
type Hit struct {
	Fact  Fact
	Score int // up to 100 for each word of the query, 100 if the text of the fact contains it
}

// Search returns the facts accepted by want that contain words of the query, the best first. Words are compared by
// stem; a word that occurs only in quotes, keywords, files, topic or summary counts less. An empty query has no hits.
func (s *Set) Search(query string, want func(Fact) bool) []Hit {
	sought := queryTerms(query)
	var hits []Hit
	for _, x := range s.Exchanges {
		var around map[string]bool
		for _, f := range x.Facts {
			if !want(f) {
				continue
			}
			if around == nil {
				around = termSet(append([]string{x.Topic, x.Summary}, x.Keywords...)...)
			}
			text, quotes := termSet(f.Text), f.quotes()
			beside := termSet(append(append(quotes, f.Keywords...), f.Files...)...)
			if n := score(sought, text, beside, around); n > 0 {
				hits = append(hits, Hit{f, n})
			}
		}
	}
	slices.SortStableFunc(hits, Hit.Compare)
	return hits
}

// Compare orders hits by score, then by time, the newest first.
func (h Hit) Compare(o Hit) int {
	return cmp.Or(cmp.Compare(o.Score, h.Score), o.Fact.Time.Compare(h.Fact.Time), cmp.Compare(h.Fact.ID, o.Fact.ID))
}

func score(sought []string, text, beside, around map[string]bool) (n int) {
	for _, w := range sought {
		switch {
		case text[w]:
			n += 100
		case beside[w]:
			n += 80
		case around[w]:
			n += 30
		}
	}
	return n
}
