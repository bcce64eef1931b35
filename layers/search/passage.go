package search

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/search/index"
)

// A Snippet is a piece of a text with what matches in it.
type Snippet struct {
	Text    string
	Matches [][2]int // bytes of Text, in order, apart from each other
	Line    int      // of the text, from 0, that it begins in
}

// Snippets cut pieces out of texts for a query.
type Snippets struct {
	q     Query
	want  map[string]float64 // terms of the query with their worth
	all   float64            // sum of them
	order map[string][]string
	kind  kind
	cut   index.Cutter // of the words that may be in want
}

// NewSnippets prepares to cut snippets for a query. All its words are worth the same.
func NewSnippets(q Query) *Snippets {
	return newSnippets(q, queryTerms(q.text()), func(queryTerm) float64 { return 1 })
}

func newSnippets(q Query, all []queryTerm, worth func(queryTerm) float64) *Snippets {
	s := &Snippets{q: q, want: map[string]float64{}, order: map[string][]string{}, kind: kindOf(q.text())}
	last := ""
	for _, t := range all {
		if t.whole && t.docs == 0 {
			continue
		}
		s.want[t.term] = worth(t)
		s.all += s.want[t.term]
		s.cut.Begin(t.term)
		if last != "" && !t.whole {
			s.order[last] = append(s.order[last], t.term)
		}
		if !t.whole {
			last = t.term
		}
	}
	return s
}

// A kind is what a question asks for. Cue matches what an answer often contains; it is nil for other questions.
type kind struct {
	why, where bool
	cue        *regexp.Regexp
}

// signs are what tells the kinds apart.
var signs = sync.OnceValue(func() (s struct{ asksWhy, saysWhy, asksWhere, saysWhere *regexp.Regexp }) {
	s.asksWhy = regexp.MustCompile(`(?i)\b(why|reasons?|reasoning|rationale|cause[sd]?|motivat\w*)\b`)
	s.saysWhy = regexp.MustCompile(`(?i)\b(because|since|so that|reasons?|therefore|due to|to avoid|instead of|rather than|` +
		`root cause|caused by|otherwise|this way|means that|which would)\b|\bthe (issue|problem|bug) (is|was)\b`)
	s.asksWhere = regexp.MustCompile(`(?i)\b(where|(which|what) (\w+ ){0,2}(file|function|package|component|module|class|method|library|script|helper)s?)\b`)
	s.saysWhere = regexp.MustCompile(`[\w/-]+\.[a-zA-Z]{1,5}\b(:\d+)?|\w+\(\)`)
	return s
})

func kindOf(text string) kind {
	switch s := signs(); {
	case s.asksWhy.MatchString(text):
		return kind{why: true, cue: s.saysWhy}
	case s.asksWhere.MatchString(text):
		return kind{where: true, cue: s.saysWhere}
	}
	return kind{}
}

// A match is a place of a text that the query names.
type match struct {
	start, end int
	term       string
}

// matches returns the matches in a text, in order.
func (s *Snippets) matches(text string) (out []match) {
	for _, re := range s.q.Patterns {
		for _, at := range re.FindAllStringIndex(text, 64) {
			if at[0] < at[1] {
				out = append(out, match{at[0], at[1], "/"})
			}
		}
	}
	if len(s.want) > 0 {
		s.cut.Each(text, func(t index.Term) {
			if _, ok := s.want[string(t.Text)]; ok {
				out = append(out, match{t.Start, t.End, string(t.Text)})
			}
		})
	}
	slices.SortStableFunc(out, func(a, b match) int { return a.start - b.start })
	return out
}

// A passage is the part of a text that answers: units from first to last, before last excluded.
type passage struct {
	from, head  int // the line that is always shown: the name and the place of a call
	units       []unit
	first, last int
	value       float64 // 0 to about 1: how much of the query it contains
	share       float64 // the same without what only makes it likelier to answer
	matches     []match
}

// passage chooses the part of a document of about width bytes that answers the query best: whole units around the
// place where most of the query matches, and what follows it.
func (s *Snippets) passage(d *index.Doc, width int) passage {
	p := passage{matches: s.matches(d.Text)}
	if d.Class == index.Tool {
		p.from, p.head = headOf(d)
		p.units = slices.DeleteFunc(lines(d.Text), func(u unit) bool { return u.start >= p.from && u.end <= p.head })
	} else {
		p.units = units(d.Text)
	}
	room := max(width-(p.head-p.from), width/3)
	p.choose(s, d, room)
	p.extend(d.Text, room)
	if s.kind.cue != nil && p.first < p.last && s.kind.cue.MatchString(d.Text[p.units[p.first].start:p.units[p.last-1].end]) {
		p.value *= 1.15
	}
	return p
}

// headOf returns the line with the name and the place of a call about a file; nothing for another document.
func headOf(d *index.Doc) (from, to int) {
	if d.File == "" || d.Name == "" {
		return 0, 0
	}
	for from < len(d.Text) {
		line, _, _ := strings.Cut(d.Text[from:], "\n")
		if strings.HasPrefix(line, d.Name+" ") {
			return from, from + len(line)
		}
		from += len(line) + 1
	}
	return 0, 0
}

// choose finds the first shortest run of units of at most room bytes whose matches are worth most.
func (p *passage) choose(s *Snippets, d *index.Doc, room int) {
	of := make([][]match, len(p.units))
	var head []match
	k := 0
	for _, m := range p.matches {
		if m.start >= p.from && m.start < p.head {
			head = append(head, m)
			continue
		}
		for k < len(p.units) && p.units[k].end <= m.start {
			k++
		}
		if k < len(p.units) && m.start >= p.units[k].start {
			of[k] = append(of[k], m)
		}
	}
	begin := window{seen: map[string]float64{}}
	for _, m := range head {
		begin.add(m.term, s.worth(m))
	}
	p.last = min(1, len(p.units))
	best := begin.sum
	p.share = begin.sum
	for i := range p.units {
		if len(of[i]) == 0 {
			continue
		}
		w := window{begin.sum, 0, maps.Clone(begin.seen)}
		size := 0
		for j := i; j < len(p.units); j++ {
			if size += p.units[j].end - p.units[j].start + 1; size > room && j > i {
				break
			}
			if len(of[j]) == 0 {
				continue
			}
			part := 1.0
			if s.kind.why && strings.HasPrefix(d.Text[p.units[j].start:], "|") {
				part = .5 // a table gives no reasons
			}
			if d.Flags&index.Edit != 0 && strings.HasPrefix(d.Text[p.units[j].start:], "-") {
				part = .5 // what an edit removed
			}
			for n, m := range of[j] {
				w.add(m.term, part*s.worth(m))
				if n > 0 && m.start-of[j][n-1].end <= 2 && slices.Contains(s.order[of[j][n-1].term], m.term) {
					w.bonus += .25 * min(s.worth(m), s.worth(of[j][n-1]))
				}
			}
			v := w.sum + min(w.bonus, w.sum/2)
			if v > best+1e-9 {
				best = v
				p.first, p.last, p.share = i, j+1, w.sum
			}
		}
	}
	if s.all > 0 {
		p.value, p.share = best/s.all, min(1, p.share/s.all)
	}
}

// A window collects what matches in some units.
type window struct {
	sum, bonus float64
	seen       map[string]float64 // worth of the terms
}

// add adds a match. Only the best of a term counts.
func (w *window) add(term string, worth float64) {
	if had := w.seen[term]; worth > had {
		w.sum += worth - had
		w.seen[term] = worth
	}
}

// worth returns the worth of the term of a match; a pattern is worth 1.
func (s *Snippets) worth(m match) float64 {
	if m.term == "/" {
		return 1
	}
	return s.want[m.term]
}

// extend adds what introduces the passage and what follows it, and does not end it with an introduction.
func (p *passage) extend(text string, room int) {
	if p.first >= p.last {
		return
	}
	size := p.units[p.last-1].end - p.units[p.first].start
	fits := func(i int) bool { return size+p.units[i].end-p.units[i].start+1 <= room }
	before := func(ok func(u unit) bool) {
		for p.first > 0 && fits(p.first-1) && ok(p.units[p.first-1]) {
			p.first--
			size += p.units[p.first].end - p.units[p.first].start + 1
		}
	}
	after := func(ok func(u unit) bool) {
		for p.last < len(p.units) && fits(p.last) && ok(p.units[p.last]) {
			size += p.units[p.last].end - p.units[p.last].start + 1
			p.last++
		}
	}
	if p.first > 0 && !p.units[p.first].heading && p.units[p.first-1].heading {
		before(func(u unit) bool { return u.heading })
	}
	after(func(u unit) bool { return !u.first })
	if u := p.units[p.first]; !u.first && !u.item {
		n := 0
		before(func(u unit) bool { n++; return n == 1 && !u.heading })
	}
	after(func(unit) bool { return true })
	for p.last-p.first > 1 && !p.units[p.last-1].code {
		u := p.units[p.last-1]
		if !u.heading && !introduces(text[u.start:u.end]) {
			break
		}
		p.last-- // it would end on a lead-in
	}
}

// terms returns the terms of the query that the passage contains.
func (p *passage) terms() map[string]bool {
	out := map[string]bool{}
	for _, m := range p.matches {
		if m.start >= p.from && m.start < p.head || p.first < p.last && m.start >= p.units[p.first].start && m.end <= p.units[p.last-1].end {
			out[m.term] = true
		}
	}
	return out
}

// Passage returns the part of a document that answers the query, in one line of about width bytes: whole sentences,
// items or lines.
func (s *Snippets) Passage(d index.Doc, width int) Snippet {
	p := s.passage(&d, width)
	w := lineWriter{text: d.Text, matches: p.matches}
	head := func() {
		if p.head > p.from {
			w.add(p.from, p.head, 1<<20)
			w.space = true
		}
	}
	if p.first >= p.last {
		head()
		return w.done()
	}
	after := p.units[p.first].start >= p.from // the announcement is not shown
	if after {
		head()
	}
	from, to := p.units[p.first].start, p.units[p.last-1].end
	w.out.Line = strings.Count(d.Text[:from], "\n")
	limit := max(width-(p.head-p.from), width/3)
	if over := to - from - limit; over > limit/3 && p.last-p.first == 1 {
		from, to = s.within(d.Text, p, limit)
	}
	if p.first > 0 && !(after && p.first == 1 && p.units[0].start < p.from) || from > p.units[p.first].start {
		w.mark("… ")
	}
	for i := p.first; i < p.last; i++ {
		if !after && p.units[i].start >= p.from {
			head()
			after = true
		}
		w.add(max(from, p.units[i].start), min(to, p.units[i].end), 2*width)
		w.space = true
	}
	if !after {
		head()
	}
	if to < p.units[p.last-1].end || p.last < len(p.units) {
		w.mark(" …")
	}
	return w.done()
}

// within returns the part of a long unit around the matches, about limit bytes.
func (s *Snippets) within(text string, p passage, limit int) (from, to int) {
	u := p.units[p.first]
	var all []match
	for _, m := range p.matches {
		if m.start >= u.start && m.end <= u.end {
			all = append(all, m)
		}
	}
	from = u.start
	if len(all) > 0 {
		if at := all[best(all, limit*2/3)].start; at-u.start > limit/4 {
			from = at
			for from > u.start && at-from < limit/4 {
				from--
			}
			for from < at && !unicode.IsSpace(rune(text[from])) {
				from++
			}
			for from < at && unicode.IsSpace(rune(text[from])) {
				from++
			}
		}
	}
	to = min(u.end, from+limit)
	if to < u.end {
		if k := strings.LastIndexAny(text[from:to], " \t\n"); k > limit/2 {
			to = from + k
		}
	}
	for to > from && to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	for from < to && !utf8.RuneStart(text[from]) {
		from++
	}
	return from, to
}

// best returns the first of the matches behind which, within width bytes, most different terms match.
func best(all []match, width int) (at int) {
	most := 0
	for i := range all {
		seen := map[string]bool{}
		for j := i; j < len(all) && all[j].end <= all[i].start+width; j++ {
			seen[all[j].term] = true
		}
		if len(seen) > most {
			at, most = i, len(seen)
		}
		if i > 200 {
			break
		}
	}
	return at
}

// A lineWriter writes parts of a text on one line.
type lineWriter struct {
	text    string
	matches []match
	b       strings.Builder
	space   bool // a blank comes before the next character
	out     Snippet
}

func (w *lineWriter) mark(s string) {
	if w.b.Len() > 0 && !strings.HasPrefix(s, " ") {
		s = " " + s
	}
	w.b.WriteString(s)
	w.space = false
}

// add writes text[from:to], with each run of blanks as one, and about limit bytes of it at most: it does not end in a
// word, unless that is very long.
func (w *lineWriter) add(from, to, limit int) {
	var open []match
	k := 0
	for k < len(w.matches) && w.matches[k].start < from {
		k++
	}
	begun := w.b.Len()
	for i := from; i < to; {
		r, n := utf8.DecodeRuneInString(w.text[i:])
		if size := w.b.Len() - begun; size >= limit && (unicode.IsSpace(r) || size >= limit+limit/4) {
			break
		}
		if unicode.IsSpace(r) {
			w.space = w.b.Len() > 0
		} else {
			if w.space {
				w.b.WriteByte(' ')
			}
			w.space = false
		}
		for k < len(w.matches) && w.matches[k].start <= i {
			if w.matches[k].start == i {
				open = append(open, match{start: w.b.Len(), end: w.matches[k].end})
			}
			k++
		}
		if !unicode.IsSpace(r) {
			w.b.WriteString(w.text[i : i+n])
		}
		i += n
		open = slices.DeleteFunc(open, func(m match) bool {
			if m.end <= i {
				w.out.mark(m.start, w.b.Len())
			}
			return m.end <= i
		})
	}
	for _, m := range open {
		w.out.mark(m.start, w.b.Len())
	}
}

func (w *lineWriter) done() Snippet {
	w.out.Text = w.b.String()
	slices.SortFunc(w.out.Matches, func(a, b [2]int) int { return a[0] - b[0] })
	w.out.Matches = joined(w.out.Matches)
	return w.out
}

func (s *Snippet) mark(start, end int) {
	if start < end {
		s.Matches = append(s.Matches, [2]int{start, end})
	}
}

// joined makes one of matches that overlap.
func joined(all [][2]int) (out [][2]int) {
	for _, m := range all {
		if n := len(out); n > 0 && m[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], m[1])
			continue
		}
		out = append(out, m)
	}
	return out
}

// Lines returns the line of a text with the best match and context lines before and after it.
func (s *Snippets) Lines(text string, context, width int) Snippet {
	all := s.matches(text)
	at := 0
	if len(all) > 0 {
		at = all[best(all, width)].start
	}
	start := strings.LastIndexByte(text[:at], '\n') + 1
	end := at
	for range context {
		start = strings.LastIndexByte(text[:max(0, start-1)], '\n') + 1
	}
	for range context + 1 {
		if nl := strings.IndexByte(text[end:], '\n'); nl >= 0 {
			end += nl + 1
		} else {
			end = len(text)
		}
	}
	out := Snippet{Text: strings.TrimRight(text[start:end], "\n"), Line: strings.Count(text[:start], "\n")}
	for _, m := range all {
		if m.start >= start && m.end <= start+len(out.Text) {
			out.mark(m.start-start, m.end-start)
		}
	}
	out.Matches = joined(out.Matches)
	return out
}
