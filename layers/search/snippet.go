package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/search/terms"
)

// A Snippet is a piece of a text with what matches in it.
type Snippet struct {
	Text    string
	Matches [][2]int // bytes of Text, in order, apart from each other
	Line    int      // of the text, from 0, that it begins in
}

// lead is how many bytes of a snippet come before its first match, at most.
const lead = 40

// Snippets cut pieces out of texts for a query.
type Snippets struct {
	q    Query
	want map[string]bool
	cut  terms.Cutter // of the words that may be in want
}

// NewSnippets prepares to cut snippets for a query.
func NewSnippets(q Query) *Snippets {
	s := &Snippets{q: q, want: map[string]bool{}}
	for _, t := range queryTerms(q.text()) {
		s.want[t.term] = true
		s.cut.Begin(t.term)
	}
	return s
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
		s.cut.Each(text, func(t terms.Term) {
			if s.want[string(t.Text)] {
				out = append(out, match{t.Start, t.End, string(t.Text)})
			}
		})
	}
	slices.SortStableFunc(out, func(a, b match) int { return a.start - b.start })
	return out
}

// Line returns the best piece of a text on one line of about width bytes.
func (s *Snippets) Line(text string, width int) Snippet {
	all := s.matches(text)
	at := best(all, width-lead)
	start := 0
	if len(all) > 0 {
		start = beginning(text, all[at].start)
	}
	var b strings.Builder
	out := Snippet{Line: strings.Count(text[:start], "\n")}
	if start > 0 {
		b.WriteString("…")
	}
	space, i, k := false, start, at
	var open []match
	for k > 0 && all[k-1].start >= start {
		k--
	}
	for i < len(text) && b.Len() < width {
		r, n := utf8.DecodeRuneInString(text[i:])
		for k < len(all) && all[k].start <= i {
			if all[k].start == i {
				open = append(open, match{start: b.Len() + btoi(space && b.Len() > 0), end: all[k].end})
			}
			k++
		}
		if unicode.IsSpace(r) {
			space = true
		} else {
			if space && b.Len() > 0 {
				b.WriteByte(' ')
			}
			space = false
			b.WriteString(text[i : i+n])
		}
		i += n
		open = slices.DeleteFunc(open, func(m match) bool {
			if m.end <= i {
				out.mark(m.start, b.Len())
			}
			return m.end <= i
		})
	}
	for _, m := range open {
		out.mark(m.start, b.Len())
	}
	if i < len(text) && strings.TrimSpace(text[i:]) != "" {
		b.WriteString("…")
	}
	out.Text = b.String()
	slices.SortFunc(out.Matches, func(a, b [2]int) int { return a[0] - b[0] })
	out.Matches = joined(out.Matches)
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
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

// beginning returns where a snippet begins whose first match is at text[i]: at the beginning of its line or a
// word before it.
func beginning(text string, i int) int {
	if nl := strings.LastIndexByte(text[:i], '\n') + 1; i-nl <= lead {
		return nl
	}
	start := i - lead
	for start < i && text[start-1] != ' ' {
		start++
	}
	for start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	return start
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
