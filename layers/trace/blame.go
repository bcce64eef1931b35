package trace

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/version"
)

// A Line is a line of a text that was assembled from pieces.
type Line struct {
	Text    string // without the line end
	Content string // without additions of the form, such as "> "
	Piece   int    // index of its piece; -1 for a heading or an empty line
}

// VersionLines returns the lines of [version.Markdown] of the segments.
func VersionLines(pieces []Piece) []Line {
	var out []Line
	for i, p := range pieces {
		if i == 0 {
			out = append(out, Line{Text: version.Legend, Piece: -1})
		}
		out = append(out, Line{Piece: -1})
		for _, l := range p.Lines() {
			piece := i
			if l.Frame {
				piece = -1
			}
			out = append(out, Line{Text: l.Text, Content: l.Content, Piece: piece})
		}
	}
	return out
}

// Locate returns the lines of a text. Lines of pieces that occur in it verbatim and in order, each from the start of a
// line, get the index of their piece.
func Locate(text string, pieces []Piece) []Line {
	var out []Line
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		out = append(out, Line{Text: line, Content: line, Piece: -1})
	}
	at := 0
	for i, p := range pieces {
		if strings.TrimSpace(p.Text) == "" {
			continue
		}
		parts := []version.Line{}
		if p.Role == "user" && p.Label == "" {
			for l := range strings.SplitSeq(p.Text, "\n") {
				parts = append(parts, version.Line{Text: l, Content: l})
			}
		} else {
			parts = p.Lines()
		}
		want := make([]string, len(parts))
		for i, l := range parts {
			want[i] = l.Text
		}
		for k := at; k+len(want) <= len(out); k++ {
			if startsWith(out[k:], want) {
				for j, l := range parts {
					if !l.Frame {
						out[k+j].Piece, out[k+j].Content = i, l.Content
					}
				}
				at = k + len(want)
				break
			}
		}
	}
	return out
}

func startsWith(lines []Line, want []string) bool {
	for i, w := range want {
		if lines[i].Text != w {
			return false
		}
	}
	return true
}

// An Origin is the source of a line.
type Origin struct {
	Line       int // from 1
	Text       string
	Frame      bool // it belongs to no piece and needs no support
	Piece      int  // index, -1 for a frame
	Source     string
	Messages   [][2]int // that support the line, or else those of its piece
	Confidence int      // share of the line that occurs in them, 0 to 100
	Supported  bool
}

// minConfidence is the confidence from which a line counts as supported: below it, most of its terms occur in none of
// its messages.
const minConfidence = 40

// anchorWeight is the weight of a name or number, which hardly occurs by chance, relative to a word.
const anchorWeight = 3

// maxSources is the number of messages to which a line is traced.
const maxSources = 8

// Blame finds the messages that each line comes from. said returns the text of a message of a conversation, with
// everything that a summary may repeat.
func Blame(lines []Line, pieces []Piece, said func(source string, n int) string) []Origin {
	b := &blamer{said: said, vocabulary: NewVocabulary(), cache: map[place]message{}}
	out := make([]Origin, len(lines))
	for i, l := range lines {
		out[i] = Origin{Line: i + 1, Text: l.Text, Frame: true, Piece: -1}
		if l.Piece >= 0 {
			b.trace(&out[i], l, pieces[l.Piece])
			out[i].Piece = l.Piece
		}
	}
	return out
}

type place struct {
	source string
	n      int
}

// A message is a text in searchable form.
type message struct {
	text  string  // with single spaces
	terms []int32 // sorted
}

func (m message) has(term int32) bool {
	_, ok := slices.BinarySearch(m.terms, term)
	return ok
}

type blamer struct {
	said       func(source string, n int) string
	vocabulary *Vocabulary
	cache      map[place]message
}

func (b *blamer) message(source string, n int) message {
	at := place{source, n}
	m, ok := b.cache[at]
	if !ok {
		text := b.said(source, n)
		m = message{singleSpaced(text), b.vocabulary.Terms(text)}
		slices.Sort(m.terms)
		b.cache[at] = m
	}
	return m
}

func singleSpaced(s string) string { return strings.Join(strings.Fields(s), " ") }

// trace fills in the origin of a line of a piece.
func (b *blamer) trace(o *Origin, l Line, p Piece) {
	o.Frame, o.Source, o.Messages = false, p.Source, version.Runs(p.Src...)
	content := singleSpaced(l.Content)
	terms := b.vocabulary.Terms(l.Content)
	if len(terms) == 0 { // without terms it cannot be wrong
		o.Frame = content == "" && !p.Remark()
		o.Supported, o.Confidence = true, 100
		return
	}
	for n := range eachMessage(o.Messages) {
		if strings.Contains(b.message(p.Source, n).text, content) {
			o.Messages, o.Supported, o.Confidence = [][2]int{{n, n}}, true, 100
			return
		}
	}
	b.cover(o, terms)
}

func eachMessage(runs [][2]int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for _, r := range runs {
			for n := r[0]; n <= r[1]; n++ {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// cover reduces the messages of a line to the few that contain most of its terms. It repeatedly chooses the message
// with the most remaining terms.
func (b *blamer) cover(o *Origin, terms []int32) {
	weight := func(t int32) int {
		if b.vocabulary.Anchor(t) {
			return anchorWeight
		}
		return 1
	}
	most, least := maxSources, 2
	if runs := len(o.Messages); runs >= scatteredRuns { // a list of things from the whole session
		most = max(most, runs)
	}
	total, covered := 0, 0
	left := map[int32]bool{}
	for _, t := range terms {
		total += weight(t)
		left[t] = true
	}
	if most == maxSources {
		least = max(least, total/8)
	}
	var chosen [][2]int
	for len(chosen) < most && covered*10 < total*9 {
		best, gain := 0, 0
		for n := range eachMessage(o.Messages) {
			m, sum := b.message(o.Source, n), 0
			for _, t := range terms {
				if left[t] && m.has(t) {
					sum += weight(t)
				}
			}
			if sum > gain {
				best, gain = n, sum
			}
		}
		if gain == 0 || len(chosen) > 0 && gain < least {
			break
		}
		chosen = append(chosen, [2]int{best, best})
		covered += gain
		m := b.message(o.Source, best)
		for _, t := range terms {
			if m.has(t) {
				delete(left, t)
			}
		}
	}
	o.Confidence = covered * 100 / total
	if o.Supported = o.Confidence >= minConfidence; o.Supported {
		o.Messages = version.Runs(chosen...)
	}
}
