package trace

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/compress"
)

// A Line is one line of a text that was made from pieces.
type Line struct {
	Text    string // as it stands there, without its end
	Content string // without what the form adds, such as "> "
	Piece   int    // the piece that it is of; -1 is no piece: a heading, an empty line
}

// VersionLines returns the lines of [compress.Markdown] of the segments.
func VersionLines(pieces []Piece) []Line {
	var out []Line
	for i, p := range pieces {
		if i > 0 {
			out = append(out, Line{Piece: -1})
		}
		prefix := ""
		if p.Role == "user" && p.Keep == "" {
			prefix = "> "
		}
		for line := range strings.SplitSeq(p.Text, "\n") {
			out = append(out, Line{Text: prefix + line, Content: line, Piece: i})
		}
	}
	return out
}

// Locate returns the lines of a text in which the texts of pieces stand word for word and in order, each from the
// start of a line on, between lines that are of no piece.
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
		want := strings.Split(p.Text, "\n")
		for k := at; k+len(want) <= len(out); k++ {
			if startsWith(out[k:], want) {
				for j := range want {
					out[k+j].Piece = i
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

// An Origin says where a line came from.
type Origin struct {
	Line       int // from 1
	Text       string
	Frame      bool // of no piece: there is nothing to support
	Piece      int  // index, -1 for a frame
	Source     string
	Messages   [][2]int // that support the line, or if none does, that its piece names
	Confidence int      // how much of the line is in them, 0 to 100
	Supported  bool
}

// Supported is from which confidence on a line counts as said: below it, most of what it is about is in none of its
// messages.
const supported = 40

// anchorWeight is how much more a name or number counts than a word: it can hardly be there by chance.
const anchorWeight = 3

// maxSources is how many messages a line is traced to at most.
const maxSources = 8

// Blame finds the messages that each line came from. Said returns what was said in a message of a conversation: all
// that a summary of it may repeat.
func Blame(lines []Line, pieces []Piece, said func(source string, n int) string) []Origin {
	return (&blamer{said: said, vocabulary: compress.NewVocabulary(), known: map[place]message{}, most: remembered}).blame(
		lines, pieces)
}

func (b *blamer) blame(lines []Line, pieces []Piece) []Origin {
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

// message is what is known of a message.
type message struct {
	text  string  // with single spaces
	terms []int32 // sorted
}

// has reports whether a message is about a term.
func (m message) has(term int32) bool {
	_, ok := slices.BinarySearch(m.terms, term)
	return ok
}

// remembered is how many bytes of messages are known at once: all of most conversations.
const remembered = 48 << 20

type blamer struct {
	said       func(source string, n int) string
	vocabulary *compress.Vocabulary
	known      map[place]message
	size, most int // bytes of the texts in known
}

func (b *blamer) message(source string, n int) message {
	at := place{source, n}
	m, ok := b.known[at]
	if !ok {
		text := b.said(source, n)
		m = message{flat(text), b.vocabulary.About(text)}
		slices.Sort(m.terms)
		if b.size += len(m.text); b.size > b.most {
			clear(b.known)
			b.size = len(m.text)
		}
		b.known[at] = m
	}
	return m
}

// flat returns s with single spaces.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// trace fills in the origin of a line of a piece.
func (b *blamer) trace(o *Origin, l Line, p Piece) {
	o.Frame, o.Source, o.Messages = false, p.Source, Runs(p.Src...)
	content := flat(l.Content)
	terms := b.vocabulary.About(l.Content)
	if len(terms) == 0 { // it says nothing that could be wrong
		o.Frame = content == ""
		o.Supported, o.Confidence = true, 100
		return
	}
	for n := range each(o.Messages) {
		if strings.Contains(b.message(p.Source, n).text, content) {
			o.Messages, o.Supported, o.Confidence = [][2]int{{n, n}}, true, 100
			return
		}
	}
	b.cover(o, terms)
}

// each yields the messages of runs.
func each(runs [][2]int) func(yield func(int) bool) {
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

// cover narrows the messages of a line down to the few that hold most of its terms: each time the one that holds most
// of what is left.
func (b *blamer) cover(o *Origin, terms []int32) {
	weight := func(t int32) int {
		if b.vocabulary.Anchor(t) {
			return anchorWeight
		}
		return 1
	}
	most, least := maxSources, 2
	if runs := len(o.Messages); runs >= scattered { // a list of things from all over the session
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
		for n := range each(o.Messages) {
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
	if o.Supported = o.Confidence >= supported; o.Supported {
		o.Messages = Runs(chosen...)
	}
}
