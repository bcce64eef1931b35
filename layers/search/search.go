package search

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/memvcs/mem/layers/search/index"
)

// maxCounted is the number of documents that are read at most to count matches.
const maxCounted = 1000

// Search answers a query. If no text has its phrases, they count as words, and the hits are loose. If nothing is found
// in the time of a question, any time is searched, and if no text has a word of the query, the words nearest to them
// are. An identifier that is only a part of longer ones is a phrase. The error is [index.ErrDamaged] if an index cannot be read.
func Search(corpora []Corpus, q Query) (Results, error) {
	q = composed(q)
	out, err := find(corpora, q)
	if k := slices.IndexFunc(out.Missing, func(u Unknown) bool { return u.longer }); k >= 0 && err == nil {
		out, err = literal(corpora, q, out.Missing[k].Word, out)
	}
	out.Phrase = q.Phrase
	if err != nil || len(out.Hits) > 0 {
		return out, err
	}
	if q.Phrase != "" {
		q.Filter.Since, q.Filter.Until, q.Phrase = 0, 0, ""
		if q.Filter.Requests || q.Blank() {
			return out, nil
		}
		other, err := Search(corpora, q)
		other.Phrase, other.AnyTime = out.Phrase, true
		return other, err
	}
	if len(q.Phrases) > 0 {
		q.Words, q.Phrases = q.text(), nil
		out, err = find(corpora, q)
		for i := range out.Hits {
			out.Hits[i].Loose = true
		}
		return out, err
	}
	return nearest(corpora, q, out)
}

// literal searches for a word of a query as a phrase. It returns others if there are no hits.
func literal(corpora []Corpus, q Query, word string, others Results) (Results, error) {
	words := slices.DeleteFunc(strings.Fields(q.Words), func(w string) bool { return bare(w) == word })
	if len(words) == len(strings.Fields(q.Words)) {
		return others, nil // it is in a phrase
	}
	q.Words, q.Phrases = strings.Join(words, " "), append(slices.Clone(q.Phrases), word)
	out, err := find(corpora, q)
	if err != nil || len(out.Hits) == 0 {
		return others, err
	}
	out.Missing = slices.DeleteFunc(out.Missing, func(u Unknown) bool { return u.Word == word })
	return out, nil
}

// nearest searches for the words nearest to those of a query that no text has, if each of them has one.
func nearest(corpora []Corpus, q Query, none Results) (Results, error) {
	if len(none.Missing) == 0 || slices.ContainsFunc(none.Missing, func(u Unknown) bool { return len(u.Near) == 0 }) {
		return none, nil
	}
	words := strings.Fields(q.Words)
	for i, w := range words {
		if k := slices.IndexFunc(none.Missing, func(u Unknown) bool { return u.Word == bare(w) }); k >= 0 {
			words[i] = none.Missing[k].Near[0]
			none.Missing[k].Searched = strconv.Quote(words[i])
		}
	}
	q.Words = strings.Join(words, " ")
	out, err := find(corpora, q)
	out.Missing = none.Missing
	return out, err
}

// composed returns q with composed accents, as the indexes have them. Patterns stay as they are.
func composed(q Query) Query {
	q.Words = norm.NFC.String(q.Words)
	all := func(texts []string) []string {
		texts = slices.Clone(texts)
		for i := range texts {
			texts[i] = norm.NFC.String(texts[i])
		}
		return texts
	}
	q.Phrases, q.Filter.Files = all(q.Phrases), all(q.Filter.Files)
	q.Filter.Topic = norm.NFC.String(q.Filter.Topic)
	return q
}

func find(corpora []Corpus, q Query) (out Results, err error) {
	m := newMatcher(corpora)
	if err := m.filter(&q.Filter); err != nil {
		return out, err
	}
	all := queryTerms(q.text())
	m.kind = kindOf(q.text())
	if err := m.terms(all); err != nil {
		return out, err
	}
	if err := m.path(&q); err != nil {
		return out, err
	}
	f := &finder{matcher: m, q: q, all: all, asked: len(all) > 0}
	f.cut = newSnippets(q, all, func(t queryTerm) float64 { return t.worth })
	m.page = q.Limit > 0 && q.Limit <= pageSize
	if q.Limit <= 0 {
		f.q.Limit = max(1, m.docs)
	}
	switch {
	case q.Filter.Pending != 0:
		err = f.open()
	case q.By == BySession:
		err = f.sessions()
	case q.By == ByFile:
		err = f.files()
	default:
		err = f.messages()
	}
	if err == nil && !q.uncounted && m.live > 0 {
		f.out.Missing, err = m.missing(q.text(), all, len(f.out.Hits) > 0)
	}
	return f.out, err
}

// A finder makes hits of ranked documents.
type finder struct {
	*matcher
	q     Query
	all   []queryTerm
	asked bool // the query has terms
	cut   *Snippets
	out   Results
}

// add adds a hit, or only counts it if there are as many as the limit.
func (f *finder) add(h Hit) {
	if f.out.Total++; len(f.out.Hits) < f.q.Limit {
		f.out.Hits = append(f.out.Hits, h)
	}
}

// candidates returns the documents that may be hits, in no order.
func (f *finder) candidates() []ranked {
	if f.q.text() == "" || f.q.exact() && !f.asked {
		return f.newest()
	}
	return f.rankMessages()
}

// newest returns all documents; those of the newest sessions have the best scores.
func (f *finder) newest() []ranked {
	var out []ranked
	for i := range f.parts {
		p := &f.parts[i]
		for _, s := range p.spans {
			v := float32(0)
			if s.Session >= 0 {
				v = float32(f.corpora[p.corpus].Sessions[s.Session].Last)
			}
			for doc := s.First; doc < s.First+s.Count; doc++ {
				if f.allows(p, doc) && p.seg.Class(doc) != index.About {
					out = append(out, ranked{int32(p.base + doc), v})
				}
			}
		}
	}
	return out
}

// hit reads a document and reports whether it matches.
func (f *finder) hit(r ranked) (Hit, bool, error) {
	h, files, err := f.read(r)
	return h, len(files) > 0, err
}

// read reads a document. It returns the files of its call that match, "" for a document without one, and none if the
// document does not match.
func (f *finder) read(r ranked) (h Hit, files []string, err error) {
	p, s := f.find(int(r.n))
	h = Hit{Project: f.corpora[p.corpus].Project, Score: float64(r.score), Weight: -1,
		Context: f.asked && f.score[r.n] == 0}
	if h.Doc, err = p.seg.Doc(int(r.n) - p.base); err != nil {
		return h, nil, err
	}
	if s.Session >= 0 {
		session := f.corpora[p.corpus].Sessions[s.Session]
		h.Session = &session
		h.Weight = weightOf(h.Session, h.Doc.N)
	}
	w := &f.q.Filter
	if !f.part(&h.Doc) {
		return h, nil, nil
	}
	files = strings.Split(h.Doc.File, "\n")
	if len(w.Files) > 0 {
		files = slices.DeleteFunc(files, func(file string) bool {
			return !slices.ContainsFunc(w.Files, func(pat string) bool { return fileFits(pat, file) })
		})
	}
	if len(files) == 0 || w.Keepit != nil && (h.Weight < 0 || !w.Keepit(h.Weight)) || !f.q.fits(h.Doc.Text) {
		return h, nil, nil
	}
	h.Doc.File = files[0]
	h.From, h.To = h.Doc.N, max(h.Doc.N, h.Doc.To)
	return h, files, nil
}

// part cuts the text of a call to the part that [Filter.Part] names, and reports whether a word of the query is in it.
func (f *finder) part(d *index.Doc) bool {
	if d.Class != index.Tool || f.q.Filter.Part == Both {
		return true
	}
	if f.q.Filter.Part == Given {
		d.Text = d.Text[:d.Said]
	} else {
		d.Text, d.Said = strings.TrimSpace(d.Text[d.Said:]), 0
	}
	return d.Text != "" && (!f.asked || len(f.cut.matches(d.Text)) > 0)
}

// weightOf returns the weight of the heaviest marker in a message, -1 if it has none.
func weightOf(s *index.Session, n int) int {
	w := -1
	for _, k := range s.Marks {
		if k.N == n {
			w = max(w, k.Weight)
		}
	}
	return w
}

// fileFits reports whether pattern is a path, the end of it, or a pattern that matches it or its end.
func fileFits(pattern, file string) bool {
	if file == "" {
		return false
	}
	pattern, file = strings.ToLower(strings.ReplaceAll(pattern, "\\", "/")),
		strings.ToLower(strings.ReplaceAll(file, "\\", "/"))
	pattern = strings.TrimPrefix(pattern, "./")
	if file == pattern || strings.HasSuffix(file, "/"+strings.TrimPrefix(pattern, "/")) {
		return true // also a name with characters of patterns, such as [id].tsx
	}
	if strings.ContainsAny(pattern, "*?[") {
		for rest := file; ; {
			if ok, err := path.Match(pattern, rest); ok && err == nil {
				return true
			}
			_, after, more := strings.Cut(rest, "/")
			if !more {
				return false
			}
			rest = after
		}
	}
	return false
}

// sessions finds the sessions that match, each with its best message.
func (f *finder) sessions() error {
	best, err := f.bestOf()
	if err != nil {
		return err
	}
	f.out.Total = len(best)
	for _, r := range f.rankSessions() {
		b, ok := best[int(r.n)]
		if len(f.out.Hits) == f.q.Limit {
			break
		}
		if !ok {
			continue
		}
		h, _, err := f.hit(b.ranked)
		if err != nil {
			return err
		}
		h.Score, h.Count, h.Passage = float64(r.score), b.count, f.cut.Passage(h.Doc, f.width())
		f.out.Hits = append(f.out.Hits, h)
	}
	return nil
}

type counted struct {
	ranked
	count int
}

// bestOf returns the best matching document of each session.
func (f *finder) bestOf() (map[int]counted, error) {
	best := map[int]counted{}
	read := 0
	for _, r := range sorted(f.candidates()) {
		p, s := f.find(int(r.n))
		if s.Session < 0 {
			continue
		}
		n := p.scope + s.Session
		b, ok := best[n]
		if ok && (read >= maxCounted || f.score[r.n] == 0) {
			continue
		}
		if f.slow() {
			_, fits, err := f.hit(r)
			if err != nil {
				return nil, err
			}
			if read++; !fits {
				continue
			}
		}
		if !ok {
			b.ranked = r
		}
		b.count++
		best[n] = b
	}
	return best, nil
}

// slow reports whether documents must be read to know whether they match.
func (f *finder) slow() bool {
	return f.q.exact() || len(f.q.Filter.Files) > 0 || f.q.Filter.Keepit != nil || f.q.Filter.Part != Both
}

// files finds the files of the matching tool calls, each with its best message.
func (f *finder) files() error {
	at := map[[2]string]int{}
	extra := 0 // documents read only to count them
	for _, r := range sorted(f.candidates()) {
		p, _ := f.find(int(r.n))
		if p.seg.Class(int(r.n)-p.base) != index.Tool {
			continue
		}
		if len(f.out.Hits) == f.q.Limit {
			if extra++; extra > maxCounted {
				f.out.AtLeast = true
				break
			}
		}
		h, files, err := f.read(r)
		if err != nil {
			return err
		}
		for _, file := range files {
			if file != "" {
				f.addFile(at, h, file)
			}
		}
	}
	return nil
}

// addFile adds a file of a hit, or counts it if it is known. at has the numbers of the known files.
func (f *finder) addFile(at map[[2]string]int, h Hit, file string) {
	key := [2]string{h.Project, file}
	if i, known := at[key]; known {
		if i < len(f.out.Hits) {
			f.out.Hits[i].Count++
		}
		return
	}
	at[key] = f.out.Total
	h.Doc.File, h.File, h.Count, h.Passage = file, file, 1, f.cut.Passage(h.Doc, f.width())
	f.add(h)
}
