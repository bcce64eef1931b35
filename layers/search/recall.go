package search

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/search/index"
)

// A Passage is a hit that is worth telling, or not: Share says how much of the question it covers.
type Passage struct {
	Hit
	Share float64 // of the weight of the words of the question that are in the passage, from 0 to 1
	Words int     // different words of the question in it
}

// RecallOptions bound what [Recall] returns.
type RecallOptions struct {
	Limit   int      // passages at most
	Without []string // sessions that are not looked at, such as the one that asks
	Classes []index.Class
}

// Recall returns the passages that fit a text best, such as a prompt. Their order is that of [Search]. Their share is what a decision
// whether they are worth telling should rest on: scores of [Search] cannot be compared between questions, shares can. A word that few
// documents have weighs more; a word that no document has weighs as much as the rarest, for a question about what is not here must not
// look answered.
func Recall(corpora []Corpus, text string, o RecallOptions) ([]Passage, error) {
	m := newMatcher(corpora)
	f := Filter{Classes: o.Classes}
	if err := m.filter(&f); err != nil {
		return nil, err
	}
	m.exclude(o.Without)
	all := queryTerms(text)
	weights := make(map[string]float64, len(all))
	total := 0.0
	for _, t := range all {
		if err := m.term(t); err != nil {
			return nil, err
		}
		if t.whole {
			continue // its parts are counted
		}
		n, err := m.count(t.term)
		if err != nil {
			return nil, err
		}
		weights[t.term] = rarity(n, m.live)
		total += weights[t.term]
	}
	if total == 0 {
		return nil, nil
	}
	fd := &finder{matcher: m, q: Query{Words: text}}
	var out []Passage
	for _, r := range m.rankMessages() {
		if len(out) == o.Limit {
			break
		}
		if m.hits[r.n] == 0 {
			continue
		}
		h, _, err := fd.hit(r)
		if err != nil {
			return nil, err
		}
		p := Passage{Hit: h}
		for _, t := range queryTerms(h.Doc.Text) {
			if w, ok := weights[t.term]; ok && !t.whole {
				p.Share += w / total
				p.Words++
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// count returns how many documents have a term.
func (m *matcher) count(term string) (n int, err error) {
	for i := range m.parts {
		list, err := m.parts[i].seg.Postings(term)
		if err != nil {
			return 0, err
		}
		n += list.Docs
	}
	return n, nil
}

// exclude keeps sessions from being found.
func (m *matcher) exclude(sessions []string) {
	if len(sessions) == 0 {
		return
	}
	if m.allowed == nil {
		m.allowed = make([]bool, m.docs)
		for i := range m.allowed {
			m.allowed[i] = true
		}
	}
	for i := range m.parts {
		p := &m.parts[i]
		for _, s := range p.spans {
			if s.Session < 0 || !slices.ContainsFunc(sessions, func(id string) bool {
				x := &m.corpora[p.corpus].Sessions[s.Session]
				return x.ID == id || x.Parent == id && strings.TrimSpace(id) != ""
			}) {
				continue
			}
			for doc := s.First; doc < s.First+s.Count; doc++ {
				m.allowed[p.base+doc] = false
			}
		}
	}
}
