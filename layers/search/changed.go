package search

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/search/index"
)

// A Change is a later edit of what a hit shows.
type Change struct {
	Session  string // its id
	N        int    // the message
	exchange int
}

// mostEdits is how many later edits of a file, the newest, are compared with a hit.
const mostEdits = 256

// Sizes from which a line tells where in a file it is: shorter ones, such as "return nil", are everywhere. One that gives
// a name a value, such as "ttl: 60", tells more.
const (
	leastLine  = 12
	leastValue = 7
)

// tells reports whether a line tells where in a file it is.
func tells(line string) bool {
	return len(line) >= leastLine ||
		len(line) >= leastValue && strings.ContainsAny(line, "=:") && strings.ContainsAny(line, "0123456789\"'")
}

// A fileEdit is a document that changes files.
type fileEdit struct {
	session string
	doc     index.Doc
	hunks   map[string][]hunk // by file
}

// A hunk is one change of a file: the lines that it added and removed, without the blanks around them.
type hunk struct{ added, removed []string }

// laterEdits finds the edits of the files that hits change.
type laterEdits struct {
	f  *finder
	of map[string][]fileEdit // by corpus and file, in order of time
}

// changed returns the newest edit, of a later exchange, of what the document of a hit wrote: it removed a line of the
// hit or of an edit that replaced one.
func (l *laterEdits) changed(x *found) (*Change, error) {
	if x.Doc.Flags&index.Edit == 0 || x.Session == nil || failed(&x.Doc) {
		return nil, nil
	}
	p, _ := l.f.find(x.doc)
	var newest *fileEdit
	of := hunksOf(&x.Doc)
	for _, file := range slices.Sorted(maps.Keys(of)) {
		hunks := of[file]
		lines := map[string]bool{}
		add := func(h hunk) {
			for _, line := range h.added {
				lines[line] = true
			}
		}
		for _, h := range hunks {
			add(h)
		}
		all, err := l.edits(p, file)
		if err != nil {
			return nil, err
		}
		for i := range all {
			e := &all[i]
			if !after(e, x) {
				continue
			}
			for _, h := range e.hunks[file] {
				if !slices.ContainsFunc(h.removed, func(s string) bool { return lines[s] }) {
					continue
				}
				add(h) // what replaced it may be replaced, too
				if newest == nil || e.doc.Time >= newest.doc.Time {
					newest = e
				}
			}
		}
	}
	if newest == nil {
		return nil, nil
	}
	return &Change{newest.session, newest.doc.N, newest.doc.Exchange}, nil
}

// outdated returns the newest change of the edits that a text of the assistant is about: those of its exchange that
// match. It returns nil if one of them still stands.
func (l *laterEdits) outdated(x *found) (newest *Change, err error) {
	if x.Doc.Class != index.Assistant || x.Session == nil || !l.f.asked {
		return nil, nil
	}
	p, s := l.f.find(x.doc)
	doc := x.doc - p.base
	for doc > s.First && !p.seg.Is(doc, index.Begins) {
		doc--
	}
	for doc++; doc < s.First+s.Count && !p.seg.Is(doc, index.Begins); doc++ {
		if !p.seg.Is(doc, index.Edit) || p.seg.Is(doc, index.Weak) || l.f.score[p.base+doc] == 0 {
			continue
		}
		edit := found{Hit: Hit{Session: x.Session}, doc: p.base + doc}
		if edit.Doc, err = p.seg.Doc(doc); err != nil {
			return nil, err
		}
		c, err := l.changed(&edit)
		if err != nil || c == nil {
			return nil, err
		}
		newest = c
	}
	return newest, nil
}

// after reports whether an edit is of an exchange after that of a hit.
func after(e *fileEdit, x *found) bool {
	if e.session == x.Session.ID {
		return e.doc.Exchange > x.Doc.Exchange
	}
	return e.doc.Time > x.Doc.Time && x.Doc.Time > 0
}

// edits returns the edits of a file in the project of a part, the oldest first.
func (l *laterEdits) edits(in *part, file string) ([]fileEdit, error) {
	key := l.f.corpora[in.corpus].Project + "\n" + file
	if all, ok := l.of[key]; ok {
		return all, nil
	}
	type place struct {
		part *part
		doc  int
		time int64
	}
	var places []place
	for i := range l.f.parts {
		p := &l.f.parts[i]
		if p.corpus != in.corpus {
			continue
		}
		post, err := p.seg.Postings(index.FileTerm(file))
		if err != nil {
			return nil, err
		}
		for doc, _, ok := post.Next(); ok; doc, _, ok = post.Next() {
			if !p.seg.Is(doc, index.Edit) || p.seg.Is(doc, index.Rewound) || p.seg.Is(doc, index.Copy) || !p.live(doc) {
				continue
			}
			t, err := p.seg.Time(doc)
			if err != nil {
				return nil, err
			}
			places = append(places, place{p, doc, t})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.time, b.time) })
	var all []fileEdit
	for _, at := range places[max(0, len(places)-mostEdits):] {
		_, span := l.f.find(at.part.base + at.doc)
		if span.Session < 0 {
			continue
		}
		d, err := at.part.seg.Doc(at.doc)
		if err != nil {
			return nil, err
		}
		if failed(&d) || !slices.Contains(strings.Split(d.File, "\n"), file) {
			continue
		}
		s := l.f.corpora[in.corpus].Sessions[span.Session]
		if !l.f.q.Filter.shows(l.f.corpora[in.corpus], span.Session) {
			continue
		}
		all = append(all, fileEdit{session: s.ID, doc: d, hunks: hunksOf(&d)})
	}
	if l.of == nil {
		l.of = map[string][]fileEdit{}
	}
	l.of[key] = all
	return all, nil
}

// shows reports whether a query may show that session n exists.
func (f *Filter) shows(c Corpus, n int) bool {
	s := c.Sessions[n]
	return !f.Without[s.ID] && !f.Without[s.Parent] && f.Only.allows(c.Project, &s)
}

// live reports whether a document was not replaced.
func (p *part) live(doc int) bool {
	return slices.ContainsFunc(p.spans, func(s index.Span) bool { return s.First <= doc && doc < s.First+s.Count })
}

// failed reports whether the call of a document failed, so that it changed nothing.
func failed(d *index.Doc) bool { return strings.Contains(d.Text[d.Said:], "\n=> ") }

// hunksOf returns the changes of files that the calls of a document made.
func hunksOf(d *index.Doc) map[string][]hunk {
	out := map[string][]hunk{}
	file := ""
	begin := true
	for line := range strings.SplitSeq(d.Text[:d.Said], "\n") {
		if name, target, ok := strings.Cut(line, " "); ok && editors[name] {
			if file = target; strings.Trim(target[strings.LastIndexByte(target, ':')+1:], "0123456789") == "" && strings.Contains(target, ":") {
				file = target[:strings.LastIndexByte(target, ':')]
			}
			begin = true
			continue
		}
		if file == "" {
			continue
		}
		if line == "@@" || line == "" || line[0] != '+' && line[0] != '-' {
			begin = true
			continue
		}
		if begin {
			out[file] = append(out[file], hunk{})
			begin = false
		}
		out[file][len(out[file])-1].add(line)
	}
	return out
}

// editors are the tools whose calls have a change of one file.
var editors = map[string]bool{"Edit": true, "MultiEdit": true, "Write": true, "NotebookEdit": true}

// add adds a line of a diff.
func (h *hunk) add(line string) {
	lines := &h.added
	if line[0] == '-' {
		lines = &h.removed
	}
	if s := strings.TrimSpace(line[1:]); tells(s) {
		*lines = append(*lines, s)
	}
}

// changes says of each hit by which newer exchange it was changed, and puts a newer one that is a hit above.
func (p *page) changes() error {
	later := laterEdits{f: p.f}
	for i := range p.hits {
		x := &p.hits[i]
		var err error
		if x.Changed, err = later.changed(x); err == nil && x.Changed == nil && p.f.page {
			x.Changed, err = later.outdated(x)
		}
		if err != nil {
			return err
		}
	}
	for i := 0; i < len(p.hits); i++ {
		c := p.hits[i].Changed
		if c == nil {
			continue
		}
		k := slices.IndexFunc(p.hits[i+1:], func(x found) bool {
			return x.Session != nil && x.Session.ID == c.Session && x.Doc.Exchange == c.exchange && !x.Context
		})
		if k < 0 {
			continue
		}
		newer := p.hits[i+1+k]
		newer.Score = max(newer.Score, p.hits[i].Score)
		p.hits = slices.Insert(slices.Delete(p.hits, i+1+k, i+2+k), i, newer)
	}
	return nil
}
