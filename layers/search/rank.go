package search

import (
	"cmp"
	"errors"
	"math"
	"runtime"
	"slices"
	"sort"
	"strings"

	"github.com/memvcs/mem/layers/search/index"

	"github.com/memvcs/mem/layers/state"
)

// The weights of the ranking. They were tuned on conversations 0 to 4 of LoCoMo, and on commit subjects and the
// sessions that the commits were made in.
const (
	messageK1 = .9 // BM25 of messages: how soon a repeated word counts no more
	messageB  = .4 // how much their length counts
	sessionK1 = 3
	sessionB  = .75

	nextShare       = .25 // of the scores of the messages before and after
	secondNextShare = .1  // of the messages next to those
	answerShare     = .4  // more of the one before, if it is a question
	sessionShare    = 1   // of the score of the session

	bestShare   = .4 // of the best message in the score of a session
	secondShare = .5 // of the second best in that
	toolShare   = .3 // of a tool call there

	agentShare = .7 // of the score of a message of a subagent, whose report its session has
	weakShare  = .5 // of the score of a document that only reads or deletes, or was replaced

	exactShare = 2   // of an identifier or a path that is known, whose parts count little
	partShare  = .1  // of these parts
	toldShare  = .8  // of a call, for a question why: reasons are said
	placeShare = 1.2 // of a change, for a question where: it has the place

	editOfPath      = 8 // the factor of the score of a change of the file that is the query
	wholeInSessions = .1
)

// A ranked is a document or session with its score.
type ranked struct {
	n     int32
	score float32
}

// sorted sorts documents or sessions, the best first.
func sorted(all []ranked) []ranked {
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.n, b.n)) })
	return all
}

// A Corpus is the index of a project.
type Corpus struct {
	Project string
	*index.Reader
}

// A part is a segment of a corpus with its place among all documents.
type part struct {
	corpus int
	seg    *index.Segment
	spans  []index.Span // by their first document
	found  []bool       // of spans: a term of the query is in a document
	base   int          // number of its first document
	scope  int          // number of the first session of its corpus
}

// A matcher scores documents and sessions. Both are numbered through all corpora.
type matcher struct {
	corpora []Corpus
	parts   []part
	docs    int // numbers of them, dead ones too
	live    int
	words   float32 // in an average document
	lengths [256]float32

	score   []float32 // of documents
	allowed []bool    // documents that may be found; nil: all
	rewound bool      // also what the user withdrew
	pending bool      // what is open or was rejected, and nothing else
	only    []bool    // corpora that are restricted to some sessions, in which copies of messages of others are found, too
	page    bool      // the hits are a page, which is to show different things, not a list, which is to be complete

	has       []uint32  // of documents: the first terms of the query that are in it, by bit
	share     []float64 // of these terms: their part of the worth of the query
	exchanges int       // that have half of the query
	inAll     int       // with such an exchange
	most      float32   // the best score of a document
	kind      kind      // of the question

	agent        []bool    // sessions of subagents
	session      []float32 // score of sessions
	sessionWords []float32
	averageWords float32 // of a session
}

func newMatcher(corpora []Corpus) *matcher {
	m := &matcher{corpora: corpora, only: make([]bool, len(corpora)), lengths: index.Lengths()}
	words, total := 0, float32(0)
	for c, x := range corpora {
		from, scope := len(m.parts), len(m.sessionWords)
		for _, s := range x.Open {
			m.parts = append(m.parts, part{corpus: c, seg: s, base: m.docs, scope: scope})
			m.docs += s.Docs()
		}
		m.sessionWords = append(m.sessionWords, make([]float32, len(x.Sessions))...)
		for i := range x.Sessions {
			m.agent = append(m.agent, x.Sessions[i].Parent != "")
		}
		for i := range x.Spans {
			s := &x.Spans[i]
			p := &m.parts[from+s.Segment]
			if len(p.spans) == 0 {
				p.spans = x.Spans[i:i]
			}
			p.spans = p.spans[:len(p.spans)+1] // the spans of a segment are next to each other
			if s.Count == 0 {
				continue
			}
			m.live += s.Count
			words += s.Words
			if s.Session >= 0 {
				w := spanWords(*s, p.seg.Class(s.First))
				m.sessionWords[scope+s.Session] += w
				total += w
			}
		}
	}
	for i := range m.parts {
		m.parts[i].found = make([]bool, len(m.parts[i].spans))
	}
	n := len(m.sessionWords)
	m.words, m.averageWords = float32(words)/float32(max(1, m.live)), total/float32(max(1, n))
	m.score, m.has = make([]float32, m.docs), make([]uint32, m.docs)
	m.session = make([]float32, n)
	return m
}

// find returns the part and the span that a document is in.
func (m *matcher) find(doc int) (*part, index.Span) {
	i := sort.Search(len(m.parts), func(i int) bool { return m.parts[i].base > doc }) - 1
	p := &m.parts[i]
	j := sort.Search(len(p.spans), func(j int) bool { return p.base+p.spans[j].First > doc }) - 1
	return p, p.spans[j]
}

// asks reports whether a document ends with a question.
func (m *matcher) asks(doc int) bool {
	p, _ := m.find(doc)
	return p.seg.Asks(doc - p.base)
}

// allows reports whether a document may be found.
func (m *matcher) allows(p *part, doc int) bool {
	return (p.seg.Class(doc) == index.Pending) == m.pending && (m.rewound || !p.seg.Is(doc, index.Rewound)) && (m.only[p.corpus] || !p.seg.Is(doc, index.Copy)) && (m.allowed == nil || m.allowed[p.base+doc])
}

// filter marks the documents that may be found. The conditions on their text are checked later.
func (m *matcher) filter(f *Filter) error {
	m.rewound, m.pending = f.Rewound, f.Pending != 0
	for i, c := range m.corpora {
		_, m.only[i] = f.Only[c.Project]
	}
	if !f.Restricts() {
		return nil
	}
	m.allowed = make([]bool, m.docs)
	var classes [256]bool
	for _, c := range f.Classes {
		classes[c] = true
	}
	for i := range m.parts {
		p := &m.parts[i]
		near, err := p.about(f.Files)
		if err != nil {
			return err
		}
		for _, s := range p.spans {
			if !f.session(m.corpora[p.corpus], s.Session) {
				continue
			}
			for doc := s.First; doc < s.First+s.Count; doc++ {
				if len(f.Classes) > 0 && !classes[p.seg.Class(doc)] || f.Requests && !p.seg.Is(doc, index.Begins) || near != nil && !near[doc] {
					continue
				}
				if f.Since != 0 || f.Until != 0 {
					t, err := p.seg.Time(doc)
					if err != nil {
						return err
					}
					if t < f.Since || f.Until != 0 && t >= f.Until {
						continue
					}
				}
				m.allowed[p.base+doc] = true
			}
		}
	}
	return nil
}

// about returns the documents about files of the same base names as the given ones; nil for all, if one of
// these is a pattern or there is none.
func (p *part) about(files []string) (map[int]bool, error) {
	if len(files) == 0 || slices.ContainsFunc(files, func(s string) bool { return strings.ContainsAny(s, "*?[") }) {
		return nil, nil
	}
	near := map[int]bool{}
	for _, file := range files {
		post, err := p.seg.Postings(index.FileTerm(file))
		if err != nil {
			return nil, err
		}
		for doc, _, ok := post.Next(); ok; doc, _, ok = post.Next() {
			near[doc] = true
		}
	}
	return near, nil
}

// session reports whether a filter accepts the documents of session n, or with -1 those without a session.
func (f *Filter) session(c Corpus, n int) bool {
	if n < 0 {
		return f.Only.allows(c.Project, nil) && f.Branch == "" && f.Topic == "" && f.Keepit == nil
	}
	s := c.Sessions[n]
	if f.Without[s.ID] || f.Without[s.Parent] || !f.Only.allows(c.Project, &s) || f.Branch != "" && s.Branch != f.Branch || f.Keepit != nil && len(s.Marks) == 0 {
		return false
	}
	return f.Topic == "" || slices.ContainsFunc(s.Topics, func(t string) bool { return indexFold(t, f.Topic) >= 0 })
}

// A queryTerm is a term of a query.
type queryTerm struct {
	term  string
	times float64
	whole bool  // an identifier, a path or a number with dots
	exact bool  // an identifier or a path that is not only words with hyphens
	of    []int // the wholes that it is a part of, in the list of terms
	docs  int   // that contain it
	worth float64

	start, end int // of its first occurrence
}

func queryTerms(text string) []queryTerm {
	var c index.Cutter
	var out []queryTerm
	c.Each(text, func(t index.Term) {
		for i := range out {
			if out[i].term == string(t.Text) && out[i].whole == t.Whole {
				out[i].times++
				return
			}
		}
		out = append(out, queryTerm{term: string(t.Text), times: 1, whole: t.Whole, start: t.Start, end: t.End,
			exact: t.Whole && !onlyHyphens(text[t.Start:t.End])})
	})
	for i := range out {
		for k := range out {
			if k != i && out[k].exact && out[k].start <= out[i].start && out[i].end <= out[k].end {
				out[i].of = append(out[i].of, k)
			}
		}
	}
	return out
}

// onlyHyphens reports whether an identifier is small letters with hyphens, which is a word as often as a name.
func onlyHyphens(s string) bool { return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == "" }

// weighParts lowers the worth of the parts of an identifier or a path that a document contains as a whole, to 0 if the
// query has nothing else: GetGitAuthor is not "git" and "author".
func weighParts(all []queryTerm) {
	part := func(t queryTerm) bool {
		return slices.ContainsFunc(t.of, func(k int) bool { return all[k].docs > 0 })
	}
	share := 0.
	for _, t := range all {
		if !part(t) && !t.whole {
			share = partShare
		}
	}
	for i, t := range all {
		switch {
		case part(t):
			all[i].worth *= share
		case t.exact && t.docs > 0:
			all[i].worth *= exactShare
		}
	}
}

// terms adds the scores of the query's terms to the documents and sessions that contain them, and counts the documents.
func (m *matcher) terms(all []queryTerm) error {
	lists := make([][]index.Postings, len(m.parts)) // of each term
	err := m.each(func(i int) (err error) {
		lists[i] = make([]index.Postings, len(all))
		for t, q := range all {
			if lists[i][t], err = m.parts[i].seg.Postings(q.term); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	worth := make([]float32, len(all)) // in messages
	for t, q := range all {
		n := 0
		for i := range lists {
			n += lists[i][t].Docs
		}
		all[t].docs = n
		all[t].worth = q.times * rarity(n, m.live)
	}
	weighParts(all)
	for t := range all {
		worth[t] = float32(all[t].worth)
	}
	m.share = shares(all)
	frequency := make([][]float32, len(all)) // of each term in each session
	for t := range frequency {
		frequency[t] = make([]float32, len(m.session))
	}
	err = m.each(func(i int) error {
		// One write fault a page costs less than the two that reading new memory before writing it takes.
		clear(m.score[m.parts[i].base:][:m.parts[i].seg.Docs()])
		for t := range all {
			if worth[t] == 0 {
				continue
			}
			if err := m.postings(&m.parts[i], &lists[i][t], worth[t], t, frequency[t]); err != nil {
				return err
			}
		}
		return nil
	})
	for t, q := range all {
		if q.worth > 0 {
			m.sessions(q, frequency[t])
		}
	}
	return err
}

// path raises the changes of a file that is all of the query, the newest most.
func (m *matcher) path(q *Query) error {
	name := strings.TrimSpace(q.text())
	if strings.ContainsAny(name, " \t\n*?[") || !strings.ContainsAny(name, "./\\") {
		return nil
	}
	type change struct {
		doc  int
		time int64
	}
	var all []change
	for i := range m.parts {
		p := &m.parts[i]
		post, err := p.seg.Postings(index.FileTerm(name))
		if err != nil {
			return err
		}
		for doc, _, ok := post.Next(); ok; doc, _, ok = post.Next() {
			if m.score[p.base+doc] == 0 || !p.seg.Is(doc, index.Edit) || p.seg.Is(doc, index.Weak) {
				continue
			}
			t, err := p.seg.Time(doc)
			if err != nil {
				return err
			}
			all = append(all, change{p.base + doc, t})
		}
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(a.time, b.time) })
	for i, c := range all {
		m.score[c.doc] *= editOfPath * (1 + float32(i+1)/float32(len(all)))
	}
	return nil
}

// sessions adds the score of a term to the sessions that contain it.
func (m *matcher) sessions(q queryTerm, frequency []float32) {
	n := 0
	for _, f := range frequency {
		if f > 0 {
			n++
		}
	}
	worth := float32(q.times * rarity(n, len(frequency)))
	if q.whole {
		worth *= wholeInSessions
	}
	for s, f := range frequency {
		if f > 0 {
			m.session[s] += worth * saturated(f, m.sessionWords[s]/m.averageWords, sessionK1, sessionB)
		}
	}
}

// each calls do for every part, on several processors if there are several corpora. Parts of one corpus contain
// documents of the same sessions and follow each other.
func (m *matcher) each(do func(part int) error) error {
	errs := make([]error, len(m.corpora))
	state.Parallel(len(m.corpora), runtime.GOMAXPROCS(0), func(c int) {
		for i := range m.parts {
			if m.parts[i].corpus == c && errs[c] == nil {
				errs[c] = do(i)
			}
		}
	})
	return errors.Join(errs...)
}

// postings adds the documents of one part.
func (m *matcher) postings(p *part, list *index.Postings, worth float32, term int, frequency []float32) error {
	bit := uint32(1) << min(term, 32) // 0 from the 33rd on

	at := 0
	for doc, n, ok := list.Next(); ok; doc, n, ok = list.Next() {
		for at < len(p.spans) && p.spans[at].First+p.spans[at].Count <= doc {
			at++
		}
		if at == len(p.spans) {
			break
		}
		if doc < p.spans[at].First || !m.allows(p, doc) {
			continue // it was deleted, or the filter excludes it
		}
		p.found[at] = true
		class := p.seg.Class(doc)
		if class != index.About {
			m.has[p.base+doc] |= bit
			m.score[p.base+doc] += worth * saturated(float32(n), m.lengths[p.seg.Length(doc)]/m.words, messageK1, messageB)
		}
		if s := p.spans[at].Session; s >= 0 {
			frequency[p.scope+s] += float32(n) * classWeight(class)
		}
	}
	return nil
}

// shares returns the part of each of the first terms in the worth of a query. Those that no text has count for nothing.
func shares(all []queryTerm) []float64 {
	out, sum := make([]float64, min(len(all), 32)), 0.
	for i := range out {
		if all[i].docs > 0 {
			sum += all[i].worth
		}
	}
	for i := range out {
		if all[i].docs > 0 && sum > 0 {
			out[i] = all[i].worth / sum
		}
	}
	return out
}

// half reports whether some terms are half of the query.
func (m *matcher) half(has uint32) bool {
	sum := 0.
	for i, v := range m.share {
		if has&(1<<i) != 0 {
			sum += v
		}
	}
	return sum >= .5
}

// rarity is the inverse document frequency of BM25. It is never 0, also if n is more than of, because it counts
// replaced documents too.
func rarity(n, of int) float64 {
	n = min(n, of)
	return math.Log(1 + (float64(of-n)+.5)/(float64(n)+.5))
}

// saturated is the term frequency of BM25.
func saturated(f, length, k1, b float32) float32 {
	return f * (k1 + 1) / (f + k1*(1-b+b*length))
}

// withNeighbours returns the score of document i of a span with its neighbours'.
func (m *matcher) withNeighbours(p *part, s index.Span, i int) float32 {
	doc := p.base + s.First + i
	at := func(k int) float32 {
		if i+k < 0 || i+k >= s.Count {
			return 0
		}
		return m.score[doc+k]
	}
	before := float32(nextShare)
	if i > 0 && p.seg.Asks(s.First+i-1) {
		before += answerShare
	}
	return m.score[doc] + before*at(-1) + nextShare*at(1) + secondNextShare*(at(-2)+at(2))
}

// rankMessages returns the documents that may be hits with their scores, in no order.
func (m *matcher) rankMessages() (out []ranked) {
	for i := range m.parts {
		p := &m.parts[i]
		for j, s := range p.spans {
			before := len(out)
			if p.found[j] {
				out = m.rankSpan(out, p, s)
			}
			if len(out) == before && s.Session >= 0 && m.session[p.scope+s.Session] > 0 {
				out = m.firstTyped(out, p, s)
			}
		}
	}
	for _, r := range out {
		m.most = max(m.most, r.score)
	}
	return out
}

// firstTyped adds the first message that the user typed of a session of which only the title, the branch or a topic
// matches.
func (m *matcher) firstTyped(out []ranked, p *part, s index.Span) []ranked {
	for k := range s.Count {
		if p.seg.Class(s.First+k) == index.User && m.allows(p, s.First+k) {
			m.exchanges++
			m.inAll++
			return append(out, ranked{int32(p.base + s.First + k), sessionShare * m.session[p.scope+s.Session]})
		}
	}
	return out
}

// weight is the factor of the score of a document.
func (m *matcher) weight(p *part, s index.Span, doc int) float32 {
	class := p.seg.Class(doc)
	v := classBoost(class)
	if p.seg.Is(doc, index.Weak) {
		v *= weakShare
	}
	if s.Session >= 0 && m.agent[p.scope+s.Session] {
		v *= agentShare
	}
	switch k := &m.kind; {
	case k.why && class == index.Tool:
		v *= toldShare
	case k.where && p.seg.Is(doc, index.Edit) && !p.seg.Is(doc, index.Weak):
		v *= placeShare
	}
	return v
}

// rankSpan adds the documents of a span that a term of the query is in or near to.
func (m *matcher) rankSpan(out []ranked, p *part, s index.Span) []ranked {
	before, counted := m.exchanges, false
	has := uint32(0) // in the exchange
	for k := range s.Count {
		doc := s.First + k
		class := p.seg.Class(doc)
		if p.seg.Is(doc, index.Begins) || class > index.Note {
			has, counted = 0, false
		}
		if class == index.About || !m.allows(p, doc) {
			continue
		}
		if m.score[p.base+doc] == 0 && class != index.User && class != index.Assistant {
			continue // a neighbour of a match is a result only if it is a message of a person or the model
		}
		v := m.withNeighbours(p, s, k)
		if v == 0 {
			continue
		}
		if m.page && m.score[p.base+doc] == 0 && (k == 0 || !p.seg.Asks(doc-1)) {
			continue // a page has a neighbour only if it answers
		}
		if has |= m.has[p.base+doc]; !counted && m.half(has) {
			counted = true
			m.exchanges++
		}
		if s.Session >= 0 {
			v += sessionShare * m.session[p.scope+s.Session]
		} else {
			v += sessionShare * v // without a session, its own score takes the place
		}
		v *= m.weight(p, s, doc)
		out = append(out, ranked{int32(p.base + doc), v})
	}
	if m.exchanges > before {
		m.inAll++
	}
	return out
}

// rankSessions ranks sessions: by all that is in them, and by the best and the second best of their documents.
func (m *matcher) rankSessions() []ranked {
	best, second := make([]float32, len(m.session)), make([]float32, len(m.session))
	for i := range m.parts {
		p := &m.parts[i]
		for j, s := range p.spans {
			if s.Session < 0 || !p.found[j] {
				continue
			}
			n := p.scope + s.Session
			for doc := s.First; doc < s.First+s.Count; doc++ {
				v := m.score[p.base+doc]
				if v == 0 {
					continue
				}
				if p.seg.Class(doc) == index.Tool {
					v *= toolShare
				}
				if v > best[n] {
					v, best[n] = best[n], v
				}
				second[n] = max(second[n], v)
			}
		}
	}
	var out []ranked
	for s, v := range m.session {
		if v > 0 || best[s] > 0 {
			out = append(out, ranked{int32(s), v + bestShare*(best[s]+secondShare*second[s])})
		}
	}
	if len(out) == 0 { // nothing to rank by: the newest first
		for _, c := range m.corpora {
			for i := range c.Sessions {
				out = append(out, ranked{int32(len(out)), float32(c.Sessions[i].Last)})
			}
		}
	}
	return sorted(out)
}

// classBoost ranks rules, concepts and facts before messages.
func classBoost(c index.Class) float32 {
	switch c {
	case index.Rule:
		return 1.6
	case index.Concept:
		return 1.4
	case index.Fact:
		return 1.3
	case index.Version, index.Composition:
		return .5
	}
	return 1
}

// spanWords returns the length of a span, each word with the weight of its class. first is the class of its first
// document: messages of several classes are in one span, other classes have spans of their own.
func spanWords(s index.Span, first index.Class) float32 {
	if first == index.Tool {
		first = index.User
	}
	return float32(s.Words-s.ToolWords)*classWeight(first) + float32(s.ToolWords)*classWeight(index.Tool)
}

// classWeight is the weight of a word in a document for its session. Tool calls are long and tell little about the
// subject of a session.
func classWeight(c index.Class) float32 {
	switch c {
	case index.Tool:
		return .1
	case index.About:
		return 2
	case index.Version:
		return 0 // its session contains all of it
	}
	return 1
}
