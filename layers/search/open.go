package search

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/search/index"
)

// open finds what sessions left open or the user rejected, the newest first. What a later session dealt with is not open.
func (f *finder) open() error {
	var all []found
	for i := range f.parts {
		p := &f.parts[i]
		for _, s := range p.spans {
			for doc := s.First; doc < s.First+s.Count; doc++ {
				if !f.allows(p, doc) || f.asked && f.score[p.base+doc] == 0 {
					continue
				}
				h, ok, err := f.hit(ranked{int32(p.base + doc), 0})
				if err != nil {
					return err
				}
				if ok && f.wants(exchange.Kind(h.Doc.Name)) {
					all = append(all, found{Hit: h, doc: p.base + doc})
				}
			}
		}
	}
	if f.q.Filter.Pending == Open {
		if err := f.unsettled(&all); err != nil {
			return err
		}
	}
	slices.SortStableFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.Doc.Time, a.Doc.Time), strings.Compare(a.Project, b.Project), cmp.Compare(b.Doc.N, a.Doc.N))
	})
	of := map[string]int{} // hits of sessions
	for _, x := range all {
		x.Passage, x.Count = f.cut.Passage(x.Doc, f.width()), 1
		if f.q.By == BySession {
			if x.Session == nil {
				continue
			}
			if k, ok := of[x.Session.ID]; ok {
				if k < len(f.out.Hits) {
					f.out.Hits[k].Count++
				}
				continue
			}
			of[x.Session.ID] = f.out.Total
		}
		f.add(x.Hit)
	}
	return nil
}

// wants reports whether a kind is asked for.
func (f *finder) wants(k exchange.Kind) bool {
	switch k {
	case exchange.RefusedPlan:
		return true
	case exchange.RefusedCall:
		return f.q.Filter.Pending == Rejected
	}
	return f.q.Filter.Pending == Open
}

// unsettled removes what a later session dealt with: it answered a request, or was given a plan, with half of the words.
func (f *finder) unsettled(all *[]found) error {
	later := &matcher{corpora: f.corpora, parts: f.parts, rewound: false, only: f.only}
	var err error
	*all = slices.DeleteFunc(*all, func(x found) bool {
		if err != nil || x.Session == nil || x.Doc.ID != "" { // an issue says itself whether it is resolved
			return false
		}
		_, text, _ := strings.Cut(x.Doc.Text, ": ")
		text, _, _ = strings.Cut(text, because)
		var words []string
		for _, t := range queryTerms(text) {
			if !t.whole {
				words = append(words, t.term)
			}
		}
		var gone bool
		gone, err = later.dealtWith(x, words)
		return gone
	})
	return err
}

// dealtWith reports whether a later session has a request that was answered, or a plan, with half of some words. What
// follows in a long request was pasted.
func (m *matcher) dealtWith(x found, words []string) (bool, error) {
	if len(words) == 0 {
		return false, nil
	}
	for i := range m.parts {
		p := &m.parts[i]
		count := map[int]int{}
		for _, w := range words {
			post, err := p.seg.Postings(w)
			if err != nil {
				return false, err
			}
			for doc, _, ok := post.Next(); ok; doc, _, ok = post.Next() {
				if p.seg.Is(doc, index.Begins) {
					count[doc]++
				}
			}
		}
		for doc, n := range count {
			if 2*n < len(words) || !m.allows(p, doc) || !answered(p, doc) {
				continue
			}
			_, s := m.find(p.base + doc)
			if s.Session < 0 || m.corpora[p.corpus].Sessions[s.Session].ID == x.Session.ID {
				continue
			}
			d, err := p.seg.Doc(doc)
			if err != nil {
				return false, err
			}
			own := map[string]bool{}
			for _, t := range queryTerms(cutText(d.Text, openSize)) {
				own[t.term] = true
			}
			n = 0
			for _, w := range words {
				if own[w] {
					n++
				}
			}
			if d.Time > x.Doc.Time && 2*n >= len(words) {
				return true, nil
			}
		}
	}
	return false, nil
}

// answered reports whether the exchange that a document begins has an outcome.
func answered(p *part, doc int) bool {
	for doc++; doc < p.seg.Docs() && !p.seg.Is(doc, index.Begins); doc++ {
		if p.seg.Is(doc, index.Outcome) {
			return true
		}
	}
	return false
}
