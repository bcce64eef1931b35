package search

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/search/index"
)

const (
	compared    = 64  // documents whose passages are compared before the best are chosen
	comparedFew = 32  // of them, if only the best matter
	pageSize    = 10  // hits that are seen together
	perSession  = 3   // of them of one session
	stretch     = 40  // messages of an exchange between hits of a page that match the same words
	passageSize = 400 // bytes of a passage, about

	passageShare = .4 // of the passage in the score of a hit
)

// A found is a document that was read.
type found struct {
	Hit
	doc   int             // number of the document
	match map[string]bool // terms of the query in the passage
	terms map[string]bool // all terms of the passage
}

// messages finds the exchanges that match, each with the message that answers best. Without words, all messages that
// the filter accepts are hits.
func (f *finder) messages() error {
	all := f.candidates()
	p := page{f: f, all: len(all)}
	var first []found
	counted, most := 0, compared
	if f.q.uncounted {
		most = comparedFew
	}
	for _, r := range sorted(all) {
		if p.full() {
			if !f.slow() || f.q.uncounted {
				break
			}
			if counted++; counted > maxCounted {
				f.out.AtLeast = true
				break
			}
		}
		h, ok, err := f.hit(r)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		x := found{Hit: h, doc: int(r.n)}
		if f.asked && len(first) < most {
			f.compare(&x)
			if first = append(first, x); len(first) == most {
				p.offerAll(first)
				if f.q.uncounted {
					break
				}
			}
			continue
		}
		p.offer(x)
	}
	if len(first) < most {
		p.offerAll(first)
	}
	return p.finish()
}

// compare adds to the score of a document how well its best passage answers.
func (f *finder) compare(x *found) {
	p := f.cut.passage(&x.Doc, f.width())
	x.Share = p.share
	x.match = p.terms()
	part, span := f.find(x.doc)
	x.Score = (1-passageShare)*x.Score + passageShare*p.value*float64(f.most*f.weight(part, span, x.doc-part.base))
}

func (f *finder) width() int {
	if f.q.Width > 0 {
		return f.q.Width
	}
	return passageSize
}

// A page chooses hits from documents, the best first.
type page struct {
	f        *finder
	hits     []found
	deferred []found // more of a session than fit on a page
	n        int     // documents that could be hits of their own
	all      int     // documents that may be hits
}

func (p *page) full() bool { return len(p.hits) >= p.f.q.Limit }

func (p *page) offerAll(all []found) {
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(b.Score, a.Score) })
	for _, x := range all {
		p.offer(x)
	}
}

// offer adds a document, unless a hit stands for it.
func (p *page) offer(x found) {
	if f := p.f; f.asked || len(f.q.Patterns) > 0 {
		if p.covered(&x, p.hits) || p.covered(&x, p.deferred) {
			return
		}
		p.n++
		if p.f.page && p.crowded(x) {
			p.deferred = append(p.deferred, x)
			return
		}
	} else {
		p.n++
	}
	p.append(x)
}

func (p *page) append(x found) {
	if !p.full() {
		p.hits = append(p.hits, x)
	}
}

// covered reports whether one of some hits stands for a document: it is in the same part of the same exchange, or has
// the same or nearly the same text. Of copies the oldest is kept, of nearly equal texts the newest. Edits that differ a
// little are different edits.
func (p *page) covered(x *found, hits []found) bool {
	for i := range hits {
		h := &hits[i]
		if sameSession(h.Hit, x.Hit) && h.Doc.Exchange == x.Doc.Exchange && x.Doc.N > 0 && h.Doc.Class <= index.Note && x.Doc.Class <= index.Note {
			if p.stands(h, x) {
				h.Count++
				return true
			}
		}
		if h.Doc.Class != x.Doc.Class {
			continue
		}
		same := h.Doc.Text == x.Doc.Text
		if same || h.Doc.Flags&x.Doc.Flags&index.Edit == 0 && near(p.termsOf(h), p.termsOf(x)) {
			if x.Doc.Time > 0 && x.Doc.Time != h.Doc.Time && x.Doc.Time < h.Doc.Time == same {
				x.Score, h.Hit, h.doc, h.match, h.terms = h.Score, x.Hit, x.doc, x.match, x.terms
			}
			return true
		}
	}
	return false
}

// stands reports whether a hit stands for another message of its exchange. The request is shown with any hit of the
// exchange, so the message that answers takes its place.
func (p *page) stands(h, x *found) bool {
	d := h.Doc.N - x.Doc.N
	if d == 0 || !p.f.page {
		return d == 0
	}
	if p.shown(x) {
		return true
	}
	if p.shown(h) && (!x.Context || p.f.asks(h.doc)) {
		x.Score, h.Hit, h.doc, h.terms = h.Score, x.Hit, x.doc, nil
		return true
	}
	if d <= -stretch || d >= stretch || !within(h.match, x.match) {
		return false
	}
	if h.Doc.Class == index.Note && x.Doc.Class == index.Assistant {
		x.Score, h.Hit, h.doc, h.match, h.terms = h.Score, x.Hit, x.doc, x.match, nil // nobody said the note, such as a prompt of the client
	}
	return true
}

// shown reports whether a message is a request that is shown whole with each hit of its exchange.
func (p *page) shown(x *found) bool {
	return x.Doc.Flags&index.Begins != 0 && len(x.Doc.Text) <= requestSize
}

// within reports whether every term of b is in a.
func within(a, b map[string]bool) bool {
	for t := range b {
		if !a[t] {
			return false
		}
	}
	return true
}

func sameSession(a, b Hit) bool {
	return a.Session != nil && b.Session != nil && a.Project == b.Project && a.Session.ID == b.Session.ID
}

// crowded reports whether the page has its hits of a session already.
func (p *page) crowded(x found) bool {
	n := 0
	for _, h := range p.hits {
		if sameSession(h.Hit, x.Hit) {
			n++
		}
	}
	return n >= perSession
}

// termsOf returns the terms of the passage of a hit.
func (p *page) termsOf(x *found) map[string]bool {
	if x.terms == nil {
		x.terms = map[string]bool{}
		if x.Passage.Text == "" {
			x.Passage = p.f.cut.Passage(x.Doc, p.f.width())
		}
		var cut index.Cutter
		cut.Each(x.Passage.Text, func(t index.Term) { x.terms[string(t.Text)] = true })
	}
	return x.terms
}

// near reports whether two texts have nearly the same terms.
func near(a, b map[string]bool) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 || 5*len(a) < 4*len(b) {
		return false
	}
	same := 0
	for t := range a {
		if b[t] {
			same++
		}
	}
	return 10*same >= 8*(len(a)+len(b)-same)
}

// finish completes the hits. A page has no more hits of one session, unless only that session has any.
func (p *page) finish() error {
	f := p.f
	if !slices.ContainsFunc(p.hits, func(x found) bool { return !sameSession(x.Hit, p.hits[0].Hit) }) {
		for _, x := range p.deferred {
			p.append(x)
		}
	}
	if f.asked && !f.q.uncounted {
		if err := p.changes(); err != nil {
			return err
		}
	}
	for _, x := range p.hits {
		if x.Passage.Text == "" {
			x.Passage = f.cut.Passage(x.Doc, f.width())
		}
		if err := f.request(&x); err != nil {
			return err
		}
		if err := p.outcome(&x); err != nil {
			return err
		}
		if f.q.uncounted {
			if err := p.failure(&x); err != nil {
				return err
			}
		}
		if x.Context && x.Request == "" && x.Session != nil {
			x.Request = x.Session.Title // which matches
		}
		f.out.Hits = append(f.out.Hits, x.Hit)
	}
	f.out.Total = len(p.hits)
	if !p.full() && len(p.deferred) == 0 {
		return nil
	}
	switch {
	case f.slow():
		f.out.Total = max(p.n, len(p.hits))
	case f.page && f.asked:
		f.out.Total, f.out.InAll = max(f.exchanges, len(p.hits)), f.inAll
	default:
		f.out.Total = p.all
	}
	return nil
}

// outcome shows the outcome of the exchange with a hit that is its request.
func (p *page) outcome(x *found) error {
	if !p.f.asked || !p.f.page || !p.shown(x) || x.Request != "" {
		return nil
	}
	part, s := p.f.find(x.doc)
	for doc := x.doc - part.base + 1; doc < s.First+s.Count && !part.seg.Is(doc, index.Begins); doc++ {
		if !part.seg.Is(doc, index.Outcome) || !p.f.allows(part, doc) {
			continue
		}
		d, err := part.seg.Doc(doc)
		if err != nil || d.To-x.Doc.N > stretch {
			return err
		}
		x.Request, x.Passage = oneLine(x.Doc.Text, requestSize), p.f.cut.Passage(d, p.f.width())
		x.Doc, x.To = d, d.To
	}
	return nil
}

// exits matches the status of a call that failed, at the start of what it printed.
var exits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\[(?:exit (\d+)|failed)\]`) })

// failure says of a call that failed how it ended, and what the assistant said next of it.
func (p *page) failure(x *found) error {
	part, s := p.f.find(x.doc)
	first := x.doc - part.base
	if x.Doc.Class != index.Tool {
		return nil
	}
	d, err := part.seg.Doc(first)
	if err != nil {
		return err
	}
	m := exits().FindStringSubmatch(d.Text[d.Said:])
	if m == nil {
		return nil
	}
	x.Failure = &Failure{Exit: m[1]}
	for doc := first + 1; doc < s.First+s.Count && !part.seg.Is(doc, index.Begins); doc++ {
		if part.seg.Class(doc) != index.Assistant || !p.f.allows(part, doc) {
			continue
		}
		if d, err = part.seg.Doc(doc); err == nil && d.N-x.Doc.To <= stretch {
			x.Failure.Said = d.Text
		}
		return err
	}
	return nil
}

// requestSize is the size of a request in one line.
const requestSize = 120

// request sets the request of the exchange of a hit, unless the hit is the request.
func (f *finder) request(x *found) error {
	if x.Doc.Class > index.Note || x.Doc.N == x.Doc.Exchange {
		return nil
	}
	p, s := f.find(x.doc)
	for doc := x.doc - p.base; doc >= s.First; doc-- {
		if !p.seg.Is(doc, index.Begins) && doc > s.First {
			continue
		}
		d, err := p.seg.Doc(doc)
		if err != nil || d.N != x.Doc.Exchange {
			return err
		}
		if x.Request = oneLine(d.Text, requestSize); x.From-d.N <= nearRequest {
			x.From = d.N // what the hit shows is in one range
		}
		return nil
	}
	return nil
}

// nearRequest is the number of messages between a request and a passage within which the range of a hit has both.
const nearRequest = 10

// oneLine returns the start of a text on one line: whole sentences if one fits.
func oneLine(text string, size int) string {
	out := ""
	for _, u := range units(text) {
		line := strings.Join(strings.Fields(text[u.start:u.end]), " ")
		if out != "" && len(out)+1+len(line) > size {
			return out + " …"
		}
		out = strings.TrimSpace(out + " " + line)
		if len(out) > size {
			return cutText(out, size) + " …"
		}
	}
	return out
}

// cutText returns at most size bytes of a text: whole words, if they are not too long.
func cutText(s string, size int) string {
	if len(s) <= size {
		return s
	}
	if k := strings.LastIndexByte(s[:size], ' '); k >= size/2 {
		return s[:k]
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size]
}
