package facts

import (
	"cmp"
	"slices"
	"strings"
)

// A Hit is a search result.
type Hit struct {
	Fact  Fact
	Score int // up to 100 for each word of the query, 100 if the text of the fact contains it
}

// Search returns the facts accepted by want that contain words of the query, the best first. Words are compared by
// stem; a word that occurs only in keywords, files, topic or summary counts less. An empty query has no hits.
func (s *Set) Search(query string, want func(Fact) bool) []Hit {
	sought := newWording(query)
	var hits []Hit
	for _, x := range s.Exchanges {
		var around *wording
		for _, f := range x.Facts {
			if !want(f) {
				continue
			}
			if around == nil {
				around = newWording(x.Topic + "\n" + x.Summary + "\n" + strings.Join(x.Keywords, "\n"))
			}
			text := newWording(f.Text)
			beside := newWording(strings.Join(f.Keywords, "\n") + "\n" + strings.Join(f.Files, "\n"))
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

func score(want, text, beside, around *wording) int {
	n := 0
	seen := map[string]bool{}
	for _, w := range want.words {
		if seen[w.stem] || !w.content && want.hasContent() {
			continue
		}
		seen[w.stem] = true
		switch {
		case text.stems[w.stem]:
			n += 100
		case beside.stems[w.stem] || text.hasSubwords(w.text):
			n += 80
		case text.has(w.stem):
			n += 50
		case around.stems[w.stem]:
			n += 30
		}
	}
	return n
}

// hasContent reports whether a text has content words.
func (w *wording) hasContent() bool {
	return slices.ContainsFunc(w.words, func(x word) bool { return x.content })
}
