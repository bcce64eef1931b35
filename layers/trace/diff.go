package trace

import (
	"iter"
	"slices"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
)

// A Difference is the result of [Diff]. Equal sides have no groups.
type Difference struct {
	Groups  []Group
	Summary Summary
}

// A Group is a part of the conversation in which the sides differ.
type Group struct {
	Source  string
	Src     [][2]int // the messages of the segments of both sides
	Pieces  [2]int   // number of segments of each side; 0: only the other side has the messages
	Tokens  [2]int
	Keepits []KeepitChange // of the markers in these messages, changed or not

	d *differ
	x group
}

// Changes returns the changed texts of the group. They are computed at each call, because together they may be as large
// as both sides.
func (g Group) Changes() []Change { return changes(g.d.lines(g.x, 0), g.d.lines(g.x, 1)) }

// A Change is a text that only one side has, or that both have in different words.
type Change struct {
	Role  string `json:"role"` // of the second, unless it is only in the first
	A     string `json:"a"`    // "" if the side does not have it
	B     string `json:"b"`
	Words []Edit `json:"words,omitempty"` // if the texts have much in common
}

// A MarkerState is the state of a marker on one side.
type MarkerState struct {
	Known  bool // the inputs of the side contain the marker
	Kept   bool
	Weight keepit.Weight
	Judged bool // Threshold and Margin are known
	// Threshold and Margin are thousandths.
	Threshold, Margin int
}

// A KeepitChange compares a marker on both sides.
type KeepitChange struct {
	Source  string
	Message int
	Text    string
	Sides   [2]MarkerState
	Changed bool
}

// A Summary is the difference in numbers.
type Summary struct {
	Tokens   [2]int
	Segments [2]int
	Messages [2]int // of the segments
	Both     int    // messages on both sides
	Kept     [2]int // markers kept verbatim
	Marks    [2]int // all markers
	Anchors  []Anchors
}

// Same reports whether there are no differences.
func (d Difference) Same() bool { return len(d.Groups) == 0 }

type differ struct {
	sides      [2]Side
	count      tokens.Counter
	vocabulary *Vocabulary
	out        Difference
}

// Diff compares two sides; count counts the tokens of both. The sides must not change while the difference is used.
func Diff(a, b Side, count tokens.Counter) Difference {
	d := &differ{sides: [2]Side{a, b}, count: count, vocabulary: NewVocabulary()}
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

// texts yields the pieces of a group on one side.
func (d *differ) texts(x group, side int) iter.Seq[*Piece] {
	return func(yield func(*Piece) bool) {
		for _, i := range x.pieces[side] {
			if p := &d.sides[side].Pieces[i]; !yield(p) {
				return
			}
		}
	}
}

// all yields all pieces of a side.
func (d *differ) all(side int) iter.Seq[*Piece] {
	return func(yield func(*Piece) bool) {
		for i := range d.sides[side].Pieces {
			if p := &d.sides[side].Pieces[i]; !yield(p) {
				return
			}
		}
	}
}

func (d *differ) tokens(texts iter.Seq[*Piece]) int {
	raw := 0
	for p := range texts {
		raw += tokens.Raw(p.Text)
	}
	return d.count.Scale(raw)
}

func (d *differ) lines(x group, side int) []line { return linesOf(d.texts(x, side)) }
