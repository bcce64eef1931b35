package trace

import (
	"iter"
	"strings"

	"github.com/memvcs/mem/layers/compress"
)

// summarise tells the difference in numbers, once the groups are known.
func (d *differ) summarise() {
	s := &d.out.Summary
	covered := [2]map[string][][2]int{}
	for i, side := range d.sides {
		covered[i] = map[string][][2]int{}
		for _, p := range side.Pieces {
			covered[i][p.Source] = append(covered[i][p.Source], p.Src...)
		}
		for source, src := range covered[i] {
			covered[i][source] = Runs(src...)
			s.Messages[i] += Messages(covered[i][source])
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
		s.Both += Messages(runs) + Messages(covered[1][source]) - Messages(
			Runs(append(runs[:len(runs):len(runs)], covered[1][source]...)...))
	}
	s.Anchors = d.anchors()
}

// anchors says what each side holds and what the other one lacks. What stands in bundles that are the same is
// on both, and so is what stands elsewhere in the same words: of what was said or run several times a version
// holds one.
func (d *differ) anchors() []Anchors {
	out := make([]Anchors, len(kinds))
	for i, k := range kinds {
		out[i] = Anchors{Kind: k, Lost: []string{}, Gained: []string{}}
	}
	var held [2]set // what the sides have
	for side := range d.sides {
		held[side] = set{}
		for p := range d.all(side) {
			eachHolding(p, held[side], func(h holding) { *d.number(&out[h.kind], side)++ })
		}
	}
	missed := [2]set{{}, {}}
	for _, g := range d.out.Groups {
		d.missed(g.x, held, missed, func(kind, side int, text string) {
			to := &out[kind].Lost
			if side == 1 {
				to = &out[kind].Gained
			}
			*to = append(*to, strings.Clone(text))
		})
	}
	d.vocabulary = nil
	return out
}

// missed calls miss with what one side of a bundle holds and the other one lacks, each once for all bundles.
// Held is what the sides have in all, missed what was told of them.
func (d *differ) missed(x bundle, held, missed [2]set, miss func(kind, side int, text string)) {
	v := d.words()
	var about [2]map[int32]bool // what the sides are about, when it is asked
	for side := range d.sides {
		other := 1 - side
		seen := set{}
		tell := func(kind int, text string) {
			if missed[side].add(kind, text) {
				miss(kind, side, text)
			}
		}
		for p := range d.texts(x, side) {
			eachHolding(p, seen, func(h holding) {
				switch {
				case held[other].has(h.kind, h.said):
				case h.kind == files || h.kind == symbols:
					tell(h.kind, h.text)
				case held[other].said(h.said):
				default:
					if about[other] == nil {
						about[other] = aboutOf(v, d.texts(x, other))
					}
					if !holds(v.About(h.said), about[other]) {
						tell(h.kind, h.text)
					}
				}
			})
		}
	}
}

// wordsKnown is how many terms are known at once: all of most conversations.
const wordsKnown = 1 << 17

// words returns a vocabulary for a bundle.
func (d *differ) words() *compress.Vocabulary {
	if d.vocabulary == nil || d.vocabulary.Len() > wordsKnown {
		d.vocabulary = compress.NewVocabulary()
	}
	return d.vocabulary
}

func (d *differ) number(a *Anchors, side int) *int {
	if side == 0 {
		return &a.A
	}
	return &a.B
}

// aboutOf returns what pieces are about.
func aboutOf(v *compress.Vocabulary, pieces iter.Seq[spoken]) map[int32]bool {
	out := map[int32]bool{}
	for p := range pieces {
		for _, t := range v.About(p.text) {
			out[t] = true
		}
	}
	return out
}
