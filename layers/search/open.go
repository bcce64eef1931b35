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

// unsettled removes what a later session dealt with: it answered a request, or was given a plan, that settles it. A
// question without a topic is open until another session begins.
func (f *finder) unsettled(all *[]found) error {
	if len(*all) == 0 {
		return nil
	}
	later := &matcher{corpora: f.corpora, parts: f.parts, rewound: false, only: f.only}
	requests, err := later.requests()
	*all = slices.DeleteFunc(*all, func(x found) bool {
		if x.Session == nil || x.Doc.ID != "" { // an issue says itself whether it is resolved
			return false
		}
		_, text, _ := strings.Cut(x.Doc.Text, ": ")
		text, _, _ = strings.Cut(text, because)
		topic := exchange.Topic(text)
		return slices.ContainsFunc(requests, func(r request) bool {
			settles := exchange.Settles(topic, r.asked) || len(topic) == 0 && exchange.Kind(x.Doc.Name) == exchange.Asked
			return settles && r.session != x.Session.ID && r.time > x.Doc.Time
		})
	})
	return err
}

// A request is one that was answered, or a plan.
type request struct {
	session string
	time    int64
	asked   string // see [exchange.AskedFor]
}

// requests returns the requests of all sessions.
func (m *matcher) requests() (out []request, err error) {
	for i := range m.parts {
		p := &m.parts[i]
		for _, s := range p.spans {
			for doc := s.First; s.Session >= 0 && doc < s.First+s.Count; doc++ {
				if !p.seg.Is(doc, index.Begins) || !m.allows(p, doc) || !answered(p, doc) {
					continue
				}
				d, err := p.seg.Doc(doc)
				if err != nil {
					return nil, err
				}
				out = append(out, request{m.corpora[p.corpus].Sessions[s.Session].ID, d.Time, exchange.AskedFor(d.Text)})
			}
		}
	}
	return out, nil
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
