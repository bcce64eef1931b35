package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/search/index"
)

// mostNear is how many near words are listed.
const mostNear = 3

// missing returns the words of a text of which no term is in a document, with the nearest words that are.
func (m *matcher) missing(text string, all []queryTerm) (out []Unknown, err error) {
	known := map[string]bool{}
	for _, t := range all {
		known[t.term] = t.docs > 0
	}
	for _, word := range strings.Fields(text) {
		parts := queryTerms(word)
		word = strings.Trim(word, `.,;:!?"'()`)
		if len(parts) == 0 || slices.ContainsFunc(parts, func(t queryTerm) bool { return known[t.term] }) ||
			slices.ContainsFunc(out, func(u Unknown) bool { return u.Word == word }) {
			continue
		}
		u := Unknown{Word: word}
		if u.Near, err = m.near(parts[0].term); err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, nil
}

// near returns the words of texts whose terms are nearest to a term: those that begin with it or with which it begins,
// and those that differ in a letter or two.
func (m *matcher) near(term string) (words []string, err error) {
	_, first := utf8.DecodeRuneInString(term)
	type candidate struct {
		term       string
		far, count int
	}
	at := map[string]*candidate{}
	for i := range m.parts {
		err := m.parts[i].seg.Each(term[:first], func(t string, docs int) {
			if far := distance(term, t); far >= 0 {
				if at[t] == nil {
					at[t] = &candidate{term: t, far: far}
				}
				at[t].count += docs
			}
		})
		if err != nil {
			return nil, err
		}
	}
	var list []*candidate
	for _, c := range at {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(b.count, a.count), strings.Compare(a.term, b.term))
	})
	for _, c := range list {
		word, err := m.wordOf(c.term)
		if err != nil {
			return nil, err
		}
		if word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
		if len(words) == mostNear {
			break
		}
	}
	return words, nil
}

// distance returns how far two terms are from each other: the letters to insert, delete, replace or swap, or one more
// than those between the shorter one and the start of the longer one, because stems end differently; -1 if they are not near.
func distance(a, b string) int {
	most := 1
	if len(a) > 4 {
		most = 2
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	row := edits(a, b)
	if d := row[len(row)-1]; d <= most {
		return d
	}
	if d := slices.Min(row); len(a) > 4 && d < most {
		return d + 1
	}
	return -1
}

// edits returns for each start of b the number of single changes that make it of a: a letter inserted, deleted or
// replaced, or two swapped.
func edits(a, b string) []int {
	s, t := []rune(a), []rune(b)
	before, last, now := []int(nil), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := range s {
		now = append(now[:0], i+1)
		for j := range t {
			d := last[j]
			if s[i] != t[j] {
				d++
			}
			d = min(d, last[j+1]+1, now[j]+1)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				d = min(d, before[j-1]+1)
			}
			now = append(now, d)
		}
		before, last, now = last, now, before
	}
	return last
}

// wordOf returns a term as a text has it, "" if no text that may be found has it.
func (m *matcher) wordOf(term string) (string, error) {
	for i := range m.parts {
		p := &m.parts[i]
		post, err := p.seg.Postings(term)
		if err != nil {
			return "", err
		}
		for doc, _, ok := post.Next(); ok; doc, _, ok = post.Next() {
			if !m.alive(p, doc) || !m.allows(p, doc) {
				continue
			}
			d, err := p.seg.Doc(doc)
			if err != nil {
				return "", err
			}
			word := ""
			var c index.Cutter
			c.Each(d.Text, func(t index.Term) {
				if word == "" && string(t.Text) == term {
					word = strings.ToLower(d.Text[t.Start:t.End])
				}
			})
			if word != "" {
				return word, nil
			}
			break
		}
		if post.Damaged() {
			return "", index.ErrDamaged
		}
	}
	return "", nil
}

// alive reports whether a document was not replaced or removed.
func (m *matcher) alive(p *part, doc int) bool {
	for _, s := range p.spans {
		if s.First <= doc && doc < s.First+s.Count {
			return true
		}
	}
	return false
}
