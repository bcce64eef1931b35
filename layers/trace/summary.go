package trace

import (
	"iter"

	"github.com/memvcs/mem/layers/version"
)

// summarise computes the summary from the groups.
func (d *differ) summarise() {
	s := &d.out.Summary
	covered := [2]map[string][][2]int{}
	for i, side := range d.sides {
		covered[i] = map[string][][2]int{}
		for _, p := range side.Pieces {
			covered[i][p.Source] = append(covered[i][p.Source], p.Src...)
		}
		for source, src := range covered[i] {
			covered[i][source] = version.Runs(src...)
			s.Messages[i] += version.Messages(covered[i][source])
		}
		s.Segments[i] = len(side.Pieces)
		if s.Tokens[i] = side.Tokens; s.Tokens[i] == 0 {
			s.Tokens[i] = d.tokens(d.all(i))
		}
		s.Marks[i] = len(side.Marks)
		for _, m := range side.Marks {
			if m.Kept {
				s.Kept[i]++
			}
		}
	}
	for source, runs := range covered[0] {
		s.Both += version.Messages(runs) + version.Messages(covered[1][source]) - version.Messages(
			version.Runs(append(runs[:len(runs):len(runs)], covered[1][source]...)...))
	}
	s.Anchors = d.anchors()
}

// anchors compares the anchors of the sides. Equal groups contain the same anchors, and an anchor elsewhere on the
// other side in the same words counts as present: a version contains only one of several repetitions.
func (d *differ) anchors() []Anchors {
	out := make([]Anchors, len(kinds))
	for i, k := range kinds {
		out[i] = Anchors{Kind: k, Lost: []string{}, Gained: []string{}}
	}
	var held [2]seenSet // what the sides have
	for side := range d.sides {
		held[side] = seenSet{}
		for p := range d.all(side) {
			eachAnchor(p, held[side], func(h anchor) { *d.countOf(&out[h.kind], side)++ })
		}
	}
	missed := [2]seenSet{{}, {}}
	for _, g := range d.out.Groups {
		d.missing(g.x, held, missed, func(kind, side int, text string) {
			to := &out[kind].Lost
			if side == 1 {
				to = &out[kind].Gained
			}
			*to = append(*to, text)
		})
	}
	return out
}

// missing calls miss with the anchors of one side of a group that the other side lacks, each once for all groups. held
// contains all anchors of the sides, missed those already reported.
func (d *differ) missing(x group, held, missed [2]seenSet, miss func(kind, side int, text string)) {
	v := d.vocabulary
	var about [2]map[int32]bool // terms of the sides, computed when needed
	for side := range d.sides {
		other := 1 - side
		seen := seenSet{}
		tell := func(kind int, text string) {
			if missed[side].add(kind, text) {
				miss(kind, side, text)
			}
		}
		for p := range d.texts(x, side) {
			eachAnchor(p, seen, func(h anchor) {
				switch {
				case held[other][statement{h.kind, h.normalised}]:
				case h.kind == files || h.kind == symbols:
					tell(h.kind, h.text)
				case held[other].isStatement(h.normalised):
				default:
					if about[other] == nil {
						about[other] = aboutOf(v, d.texts(x, other))
					}
					if !containsMost(v.Terms(h.normalised), about[other]) {
						tell(h.kind, h.text)
					}
				}
			})
		}
	}
}

func (d *differ) countOf(a *Anchors, side int) *int {
	if side == 0 {
		return &a.A
	}
	return &a.B
}

// aboutOf returns the terms of pieces.
func aboutOf(v *Vocabulary, pieces iter.Seq[*Piece]) map[int32]bool {
	out := map[int32]bool{}
	for p := range pieces {
		for _, t := range v.Terms(p.Text) {
			out[t] = true
		}
	}
	return out
}
