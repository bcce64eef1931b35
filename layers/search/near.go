package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/search/index"
)

// OtherWords is what was searched for in place of a query with a word that no text has.
const OtherWords = "the other words"

// mostNear is how many near words are listed.
const mostNear = 3

// missing returns the words of a text of which no term is in a document, and the identifiers and paths of which only
// parts are, with the nearest words that are. found reports whether the other words have hits.
func (m *matcher) missing(text string, all []queryTerm, found bool) (out []Unknown, err error) {
	known := map[string]bool{}
	for _, t := range all {
		known[t.term] = t.docs > 0
	}
	for _, word := range strings.Fields(text) {
		parts := queryTerms(word)
		word = bare(word)
		if len(parts) == 0 || slices.ContainsFunc(out, func(u Unknown) bool { return u.Word == word }) {
			continue
		}
		u, term := Unknown{Word: word}, parts[0].term
		if slices.ContainsFunc(parts, func(t queryTerm) bool { return known[t.term] }) {
			k := slices.IndexFunc(parts, func(t queryTerm) bool { return t.exact && t.end-t.start == len(word) })
			if k < 0 || known[parts[k].term] {
				continue
			}
			file, err := m.hasFile(word)
			if err != nil {
				return nil, err
			}
			if file {
				continue
			}
			term, u.Searched = parts[k].term, "its parts"
			if u.longer, err = m.longer(term); err != nil {
				return nil, err
			}
		} else if found {
			u.Searched = OtherWords
		}
		if u.Near, err = m.near(strings.ToLower(word), term); err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, nil
}

// longer reports whether a term that no document has is a part of one.
func (m *matcher) longer(term string) (found bool, err error) {
	for i := range m.parts {
		if err := m.parts[i].seg.Each("", func(t string, _ int) { found = found || strings.Contains(t, term) }); err != nil || found {
			return found, err
		}
	}
	return false, nil
}

// bare returns a word of a query without the punctuation around it.
func bare(word string) string { return strings.Trim(word, `.,;:!?"'()`) }

// hasFile reports whether a document is about a file of which a path is the end, or which is the end of an absolute path.
func (m *matcher) hasFile(name string) (bool, error) {
	for i := range m.parts {
		p := &m.parts[i]
		post, err := p.seg.Postings(index.FileTerm(name))
		if err != nil {
			return false, err
		}
		read := 0
		for doc, _, ok := post.Next(); ok && read < maxCounted; doc, _, ok = post.Next() {
			if !p.live(doc) || !m.allows(p, doc) {
				continue
			}
			d, err := p.seg.Doc(doc)
			if err != nil {
				return false, err
			}
			read++
			for file := range strings.SplitSeq(d.File, "\n") {
				if fileFits(name, file) || strings.HasPrefix(name, "/") && fileFits(file, name) {
					return true, nil
				}
			}
		}
	}
	return false, nil
}

// Limits of what is read for the nearest words.
const (
	mostStems = 24 // terms of which the words are compared
	mostRead  = 8  // texts in which a term is looked up
)

// near returns the words of texts that are nearest to a word of no text: those that differ in a letter or two, then those
// that begin with it and those that it begins with. The terms of the index are stems; they only select what is compared.
// Most slips leave the first letter as it is, so the words with other first letters are read if there are no others.
func (m *matcher) near(word, term string) ([]string, error) {
	_, first := utf8.DecodeRuneInString(term)
	words, err := m.nearWith(term[:first], word, term)
	if err == nil && len(words) == 0 {
		words, err = m.nearWith("", word, term)
	}
	return words, err
}

// nearWith is near for the terms that begin with start.
func (m *matcher) nearWith(start, word, term string) ([]string, error) {
	words := []string{}
	type candidate struct {
		text       string
		far, count int
	}
	order := func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(b.count, a.count), strings.Compare(a.text, b.text))
	}
	at := map[string]*candidate{}
	var list []*candidate
	for i := range m.parts {
		err := m.parts[i].seg.Each(start, func(t string, docs int) {
			if known := at[t]; known != nil {
				known.count += docs
				return
			}
			if isWord(t) != isWord(word) || start == "" && !misbegun(term, t) {
				return
			}
			if far := distance(term, t); far >= 0 {
				at[t] = &candidate{t, far, docs}
				list = append(list, at[t])
			}
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, order)
	var found []*candidate
	for _, c := range list[:min(len(list), mostStems)] {
		all, err := m.wordsOf(c.text)
		if err != nil {
			return nil, err
		}
		best := &candidate{far: -1}
		for _, w := range all {
			if d := apart(word, w); d >= 0 && (best.far < 0 || d < best.far) {
				best = &candidate{w, d, c.count}
			}
		}
		if best.far >= 0 {
			found = append(found, best)
		}
	}
	slices.SortFunc(found, order)
	for _, c := range found[:min(len(found), mostNear)] {
		words = append(words, c.text)
	}
	return words, nil
}

// misbegun reports whether one of two words may be the other with a slip in its first letter: they go on alike from there.
func misbegun(a, b string) bool {
	a0, n := utf8.DecodeRuneInString(a)
	a1, _ := utf8.DecodeRuneInString(a[n:])
	b0, n := utf8.DecodeRuneInString(b)
	b1, _ := utf8.DecodeRuneInString(b[n:])
	return a1 == b1 || a0 == b1 || a1 == b0
}

// isWord reports whether a text is letters and digits only, and no identifier or path.
func isWord(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// slips is how many letters of a word of n may be wrong.
func slips(n int) int {
	if n > 4 {
		return 2
	}
	return 1
}

// distance returns how far two terms are from each other: the letters to insert, delete, replace or swap, or one more
// than those between the shorter one and the start of the longer one, because stems end differently; -1 if they are not near.
func distance(a, b string) int {
	most := slips(len(a))
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

// apart returns how far a word of a text is from a word of a query: the letters to insert, delete, replace or swap; one
// more than near words differ in if one begins with the other; -1 if it is not near.
func apart(a, b string) int {
	row := edits(a, b)
	switch d, most := row[len(row)-1], slips(len(a)); {
	case d <= most:
		return d
	case min(len(a), len(b)) > 4 && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a)):
		return most + 1
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

// wordsOf returns the words of a term in the first texts that have it and may be found.
func (m *matcher) wordsOf(term string) (words []string, err error) {
	read := 0
	for i := range m.parts {
		p := &m.parts[i]
		post, err := p.seg.Postings(term)
		if err != nil {
			return nil, err
		}
		for doc, _, ok := post.Next(); ok && read < mostRead; doc, _, ok = post.Next() {
			if !p.live(doc) || !m.allows(p, doc) {
				continue
			}
			d, err := p.seg.Doc(doc)
			if err != nil {
				return nil, err
			}
			read++
			var c index.Cutter
			c.Begin(term)
			c.Each(d.Text, func(t index.Term) {
				if word := strings.ToLower(d.Text[t.Start:t.End]); string(t.Text) == term && !slices.Contains(words, word) {
					words = append(words, word)
				}
			})
		}
	}
	return words, nil
}
