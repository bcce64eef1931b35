package facts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/search/index"
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
		for _, f := range x.Facts {
			if !want(f) {
				continue
			}
			beside := slices.Concat(f.Keywords, f.Files)
			for _, e := range f.Evidence {
				beside = append(beside, e.Quote)
			}
			score := map[string]int{} // of each term in its best place
			put := func(weight int, texts ...string) {
				var c index.Cutter
				c.Each(strings.Join(texts, "\n"), func(t index.Term) { score[string(t.Text)] = weight })
			}
			put(30, append([]string{x.Topic, x.Summary}, x.Keywords...)...)
			put(80, beside...)
			put(100, f.Text)
			hit := Hit{Fact: f}
			for _, w := range sought {
				hit.Score += score[w]
			}
			if hit.Score > 0 {
				hits = append(hits, hit)
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
