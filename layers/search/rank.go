package search

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/memvcs/mem/layers/search/index"
	"github.com/memvcs/mem/layers/search/terms"
)

// A Corpus is the index of a project.
type Corpus struct {
	Project string
	*index.Reader
}

// A part is a segment of a corpus with its place among all documents.
type part struct {
	corpus int
	seg    *index.Segment
	spans  []index.Span // live, by their first document
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
	hits    []uint8   // how many terms of the query each has
	allowed []bool    // documents that may be found; nil: all

	session      []float32 // score of sessions
	sessionWords []float32
	averageWords float32 // of a session
	frequency    []float32
}

func newMatcher(corpora []Corpus) *matcher {
	m := &matcher{corpora: corpora, lengths: index.Lengths()}
	words := 0
	for c, x := range corpora {
		from, scope := len(m.parts), len(m.sessionWords)
		for _, s := range x.Open {
			m.parts = append(m.parts, part{corpus: c, seg: s, base: m.docs, scope: scope})
			m.docs += s.Docs()
		}
		m.sessionWords = append(m.sessionWords, make([]float32, len(x.Sessions))...)
		for _, s := range x.Spans {
			if s.Count == 0 {
				continue
			}
			p := &m.parts[from+s.Segment]
			p.spans = append(p.spans, s)
			m.live += s.Count
			words += s.Words
			if s.Session >= 0 && p.seg.Class(s.First) != index.Version {
				m.sessionWords[scope+s.Session] += float32(s.Words)
			}
		}
	}
	n := len(m.sessionWords)
	m.words, m.averageWords = float32(words)/float32(max(1, m.live)), float32(words)/float32(max(1, n))
	m.score, m.hits = make([]float32, m.docs), make([]uint8, m.docs)
	m.session, m.frequency = make([]float32, n), make([]float32, n)
	return m
}

// find returns the part and the span that a document is in.
func (m *matcher) find(doc int) (*part, index.Span) {
	i := sort.Search(len(m.parts), func(i int) bool { return m.parts[i].base > doc }) - 1
	p := &m.parts[i]
	j := sort.Search(len(p.spans), func(j int) bool { return p.base+p.spans[j].First > doc }) - 1
	return p, p.spans[j]
}

func (m *matcher) allows(p *part, doc int) bool { return m.allowed == nil || m.allowed[p.base+doc] }

// filter notes which documents may be found. What needs their text is looked at later.
func (m *matcher) filter(f *Filter) error {
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
				if len(f.Classes) > 0 && !classes[p.seg.Class(doc)] || near != nil && !near[doc] {
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

// about returns the documents about files of the same base names as the given ones; nil for all, if one of these is a pattern or
// there is none.
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
		if post.Damaged() {
			return nil, index.ErrDamaged
		}
	}
	return near, nil
}

// session reports whether a filter lets through what belongs to a session, or with -1 to none.
func (f *Filter) session(c Corpus, n int) bool {
	if n < 0 {
		return f.Branch == "" && f.Topic == "" && f.Keepit == nil
	}
	s := &c.Sessions[n]
	if f.Branch != "" && s.Branch != f.Branch || f.Keepit != nil && len(s.Marks) == 0 {
		return false
	}
	return f.Topic == "" || slices.ContainsFunc(s.Topics, func(t string) bool { return indexFold(t, f.Topic) >= 0 })
}

// A queryTerm is a term of a query.
type queryTerm struct {
	term  string
	times float64
	whole bool
}

func queryTerms(text string) []queryTerm {
	var c terms.Cutter
	var out []queryTerm
	c.Each(text, func(t terms.Term) {
		for i := range out {
			if out[i].term == string(t.Text) {
				out[i].times++
				return
			}
		}
		out = append(out, queryTerm{string(t.Text), 1, t.Whole})
	})
	return out
}

// term adds what a term of the query is worth to the documents and sessions that have it.
func (m *matcher) term(q queryTerm) error {
	lists := make([]index.Postings, len(m.parts))
	n := 0
	for i, p := range m.parts {
		var err error
		if lists[i], err = p.seg.Postings(q.term); err != nil {
			return err
		}
		n += lists[i].Docs
	}
	if n == 0 {
		return nil
	}
	clear(m.frequency)
	worth := float32(q.times * rarity(n, m.live))
	for i := range m.parts {
		if err := m.postings(&m.parts[i], &lists[i], worth); err != nil {
			return err
		}
	}
	n = 0
	for _, f := range m.frequency {
		if f > 0 {
			n++
		}
	}
	worth = float32(q.times * rarity(n, len(m.frequency)))
	for s, f := range m.frequency {
		if f > 0 {
			m.session[s] += worth * saturated(f, m.sessionWords[s]/m.averageWords, float32(tuned.SK1), float32(tuned.SB))
		}
	}
	return nil
}

// postings adds the documents of one part.
func (m *matcher) postings(p *part, list *index.Postings, worth float32) error {
	at := 0
	for doc, n, ok := list.Next(); ok; doc, n, ok = list.Next() {
		for at < len(p.spans) && p.spans[at].First+p.spans[at].Count <= doc {
			at++
		}
		if at == len(p.spans) {
			break
		}
		if doc < p.spans[at].First || !m.allows(p, doc) {
			continue // it is not in the index any more, or is not asked for
		}
		class := p.seg.Class(doc)
		if class != index.About {
			m.score[p.base+doc] += worth * saturated(float32(n), m.lengths[p.seg.Length(doc)]/m.words, float32(tuned.K1), float32(tuned.B))
			m.hits[p.base+doc]++
		}
		if s := p.spans[at].Session; s >= 0 {
			m.frequency[p.scope+s] += float32(n) * classWeight(class)
		}
	}
	if list.Damaged() {
		return index.ErrDamaged
	}
	return nil
}

// rarity is the inverse document frequency of BM25.
func rarity(n, of int) float64 {
	return math.Log(1 + max(0, float64(of)-float64(n)+.5)/(float64(n)+.5))
}

// saturated is the term frequency of BM25.
func saturated(f, length, k1, b float32) float32 {
	return f * (k1 + 1) / (f + k1*(1-b+b*length))
}

// A ranked is a document or session with its score.
type ranked struct {
	n     int
	score float32
}

func sortRanked(all []ranked) {
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.n, b.n)) })
}

// around returns the score of document i of a span with its neighbours'.
func (m *matcher) around(p *part, s index.Span, i int) float32 {
	doc := p.base + s.First + i
	at := func(k int) float32 {
		if i+k < 0 || i+k >= s.Count {
			return 0
		}
		return m.score[doc+k]
	}
	before := tuned.N1
	if i > 0 && p.seg.Asks(s.First+i-1) {
		before += tuned.Q
	}
	return m.score[doc] + before*at(-1) + tuned.N1*at(1) + tuned.N2*(at(-2)+at(2))
}

// rankMessages ranks documents.
func (m *matcher) rankMessages() []ranked {
	var out []ranked
	for i := range m.parts {
		p := &m.parts[i]
		for _, s := range p.spans {
			for k := range s.Count {
				class := p.seg.Class(s.First + k)
				if class == index.About || !m.allows(p, s.First+k) {
					continue
				}
				if m.hits[p.base+s.First+k] == 0 && class != index.User && class != index.Assistant {
					continue // what stands beside a match is only of interest if somebody said it
				}
				v := m.around(p, s, k)
				if v == 0 {
					continue
				}
				if s.Session >= 0 {
					v += tuned.S * m.session[p.scope+s.Session]
				} else {
					v += tuned.S * v // it is its own surroundings
				}
				out = append(out, ranked{p.base + s.First + k, v * classBoost(class)})
			}
		}
	}
	sortRanked(out)
	return out
}

// rankSessions ranks sessions.
func (m *matcher) rankSessions() []ranked {
	top := make([]float32, len(m.session))
	if tuned.Win > 0 {
		m.windows(top)
	}
	for i := range m.parts {
		p := &m.parts[i]
		for _, s := range p.spans {
			if s.Session < 0 || tuned.Win > 0 {
				continue
			}
			for k := range s.Count {
				if m.allows(p, s.First+k) {
					n := p.scope + s.Session
					top[n] = max(top[n], m.around(p, s, k))
				}
			}
		}
	}
	var out []ranked
	for s, v := range m.session {
		if v > 0 || top[s] > 0 {
			out = append(out, ranked{s, v + tuned.MaxTurn*top[s]})
		}
	}
	if len(out) == 0 { // nothing to rank by: the newest first
		n := 0
		for _, c := range m.corpora {
			for _, s := range c.Sessions {
				out = append(out, ranked{n, float32(s.Last)})
				n++
			}
		}
	}
	sortRanked(out)
	return out
}

// classBoost puts what was established before what was said: rules, concepts, facts, then messages.
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

// classWeight is how much a word in a document counts for its session.
func classWeight(c index.Class) float32 {
	switch c {
	case index.User:
		return tuned.WUser
	case index.Assistant:
		return tuned.WAsst
	case index.Tool:
		return tuned.WTool
	case index.Summary:
		return tuned.WSum
	case index.Note:
		return tuned.WNote
	case index.About:
		return tuned.WAbout
	case index.Version:
		return 0 // its session has it all
	}
	return 1
}

type params struct {
	K1, B, SK1, SB                           float64
	WUser, WAsst, WTool, WSum, WNote, WAbout float32
	N1, N2, Q, S                             float32
	MaxTurn                                  float32
	Win                                      int
	WinTool, WinK, WTop2                     float32
}

var tuned = params{K1: .9, B: .4, SK1: 1.2, SB: .75, WUser: 1, WAsst: 1, WTool: 1, WSum: 1, WNote: 1, WAbout: 1, N1: .3, N2: .1, Q: .3, S: .8, MaxTurn: .4}

// windows: each session's best window, of saturated tf over Win docs decayed.
func (m *matcher) windows(top []float32) {
	for i := range m.parts {
		p := &m.parts[i]
		for _, s := range p.spans {
			if s.Session < 0 {
				continue
			}
			n := p.scope + s.Session
			best, second := float32(0), float32(0)
			bestAt := -1
			for k := range s.Count {
				v := float32(0)
				w := float32(1)
				for d := 0; d < tuned.Win; d++ {
					if k+d < s.Count {
						x := m.score[p.base+s.First+k+d]
						if p.seg.Class(s.First+k+d) == index.Tool {
							x *= tuned.WinTool
						}
						v += w * x
					}
					if d > 0 && k-d >= 0 {
						x := m.score[p.base+s.First+k-d]
						if p.seg.Class(s.First+k-d) == index.Tool {
							x *= tuned.WinTool
						}
						v += w * x
					}
					w *= tuned.WinK
				}
				if v > best {
					if k-bestAt > tuned.Win {
						second = best
					}
					best, bestAt = v, k
				} else if v > second && k-bestAt > tuned.Win {
					second = v
				}
			}
			top[n] = max(top[n], best+tuned.WTop2*second)
		}
	}
}
