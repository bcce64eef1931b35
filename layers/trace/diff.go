package trace

import (
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
	Changes []Change
	Keepits []KeepitChange // of the markers in these messages, changed or not
}

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

// A Summary tells the difference in numbers.
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
	vocabulary *compress.Vocabulary
	out        Difference
}

// Diff compares two sides. Count counts the tokens of both.
func Diff(a, b Side, count Counter) Difference {
	d := &differ{sides: [2]Side{a, b}, count: count, vocabulary: compress.NewVocabulary()}
	var changed []bundle
	for _, x := range align(d.sides) {
		g := d.group(x)
		differs := len(g.Changes) > 0 || slices.ContainsFunc(g.Keepits, func(k KeepitChange) bool { return k.Changed })
		if differs {
			g.Tokens = [2]int{d.tokens(d.pieces(x, 0)), d.tokens(d.pieces(x, 1))}
			d.out.Groups = append(d.out.Groups, g)
			changed = append(changed, x)
		}
	}
	d.summarise(changed)
	return d.out
}

func (d *differ) pieces(x bundle, side int) []Piece {
	var out []Piece
	for _, i := range x.pieces[side] {
		out = append(out, d.sides[side].Pieces[i])
	}
	return out
}

func (d *differ) tokens(pieces []Piece) int {
	raw := 0
	for _, p := range pieces {
		raw += tokens.Raw(p.Text)
	}
	return d.count.Scale(raw)
}

func (d *differ) group(x bundle) Group {
	g := Group{Source: x.source, Src: x.src, Pieces: [2]int{len(x.pieces[0]), len(x.pieces[1])}}
	g.Keepits = d.keepits(x)
	g.Changes = changes(linesOf(d.pieces(x, 0)), linesOf(d.pieces(x, 1)))
	return g
}
