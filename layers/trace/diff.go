package trace

import (
	"iter"
	"slices"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
)

// A Difference is what differs between two sides. Equal sides have no groups.
type Difference struct {
	Groups  []Group
	Summary Summary
}

// A Group is a run of the conversation in which the sides differ.
type Group struct {
	Source  string
	Src     [][2]int // the messages that the segments of both sides stand for
	Pieces  [2]int   // segments of each side; 0 means that the messages are only in the other
	Tokens  [2]int
	Keepits []KeepitChange // of the markers in these messages, changed or not

	d *differ
	x bundle
}

// Changes returns how the texts of the group differ. They are found each time: together they may be as large as
// both sides.
func (g Group) Changes() []Change { return changes(g.d.lines(g.x, 0), g.d.lines(g.x, 1)) }

// A Change is a text that one side has and the other has not, or has in other words.
type Change struct {
	Role  string // of the second, unless it is only in the first
	A, B  string // "" is nothing
	Words []Edit // if both are there and have much in common
}

// A Place is what became of a marker on one side.
type Place struct {
	Known  bool // the side was made from the message of the marker
	Kept   bool
	Weight keepit.Weight
	Judged bool // Threshold and Margin are known
	// Threshold and Margin are thousandths.
	Threshold, Margin int
}

// A KeepitChange is a marker and what became of it on both sides.
type KeepitChange struct {
	Source  string
	Message int
	Text    string
	Sides   [2]Place
	Changed bool
}

// A Summary is the difference in numbers.
type Summary struct {
	Tokens   [2]int
	Segments [2]int
	Messages [2]int // that the segments stand for
	Both     int    // messages that both sides stand for
	Kept     [2]int // markers kept word for word
	Marks    [2]int // markers there were
	Anchors  []Anchors
}

// Same reports whether nothing differs.
func (d Difference) Same() bool { return len(d.Groups) == 0 }

type differ struct {
	sides      [2]Side
	count      Counter
	vocabulary *compress.Vocabulary // while anchors are looked for
	out        Difference
}

// Diff compares two sides. Count counts the tokens of both. The sides must not be changed as long as the
// difference is looked at. What cannot be read of texts that were put aside is no difference: they tell.
func Diff(a, b Side, count Counter) Difference {
	d := &differ{sides: [2]Side{a, b}, count: count}
	for _, x := range align(d.sides) {
		g := Group{Source: x.source, Src: x.src, Pieces: [2]int{len(x.pieces[0]), len(x.pieces[1])}, Keepits: d.keepits(x),
			d: d, x: x}
		if slices.ContainsFunc(g.Keepits, func(k KeepitChange) bool { return k.Changed }) ||
			!slices.Equal(d.lines(x, 0), d.lines(x, 1)) {
			g.Tokens = [2]int{d.tokens(d.texts(x, 0)), d.tokens(d.texts(x, 1))}
			d.out.Groups = append(d.out.Groups, g)
		}
	}
	d.summarise()
	return d.out
}

// A spoken is a piece with its text.
type spoken struct {
	*Piece
	text string
}

// texts yields the pieces of a bundle on one side.
func (d *differ) texts(x bundle, side int) iter.Seq[spoken] {
	return func(yield func(spoken) bool) {
		for _, i := range x.pieces[side] {
			if p := &d.sides[side].Pieces[i]; !yield(spoken{p, d.sides[side].text(p)}) {
				return
			}
		}
	}
}

// all yields all pieces of a side.
func (d *differ) all(side int) iter.Seq[spoken] {
	return func(yield func(spoken) bool) {
		for i := range d.sides[side].Pieces {
			if p := &d.sides[side].Pieces[i]; !yield(spoken{p, d.sides[side].text(p)}) {
				return
			}
		}
	}
}

func (d *differ) tokens(texts iter.Seq[spoken]) int {
	raw := 0
	for p := range texts {
		raw += tokens.Raw(p.text)
	}
	return d.count.Scale(raw)
}

func (d *differ) lines(x bundle, side int) []line { return linesOf(d.texts(x, side)) }
