package trace

// summarise tells the difference in numbers; changed are the bundles in which the sides differ.
func (d *differ) summarise(changed []bundle) {
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
			s.Tokens[i] = d.tokens(side.Pieces)
		}
		s.Marks[i] = len(side.Marks)
		for _, m := range side.Marks {
			if m.Kept {
				s.Kept[i]++
			}
		}
	}
	for source, runs := range covered[0] {
		s.Both += Messages(runs) + Messages(covered[1][source]) - Messages(Runs(append(runs[:len(runs):len(runs)], covered[1][source]...)...))
	}
	s.Anchors = d.anchors(changed)
}

// anchors says what each side holds and what the other one lacks. What stands in bundles that are the same is on both, and so is
// what stands elsewhere in the same words: of what was said or run several times a version holds one.
func (d *differ) anchors(changed []bundle) []Anchors {
	out := make([]Anchors, len(kinds))
	for i, k := range kinds {
		out[i] = Anchors{Kind: k, Lost: []string{}, Gained: []string{}}
	}
	var named [2][len(kinds)]map[string]bool
	said := [2]map[string]bool{{}, {}}
	for side := range d.sides {
		h := d.anchorsOf(d.sides[side].Pieces)
		for _, x := range h.said {
			*d.number(&out[x.kind], side)++
			said[side][x.said] = true
		}
		for kind, names := range h.named {
			*d.number(&out[kind], side) += len(names)
			named[side][kind] = map[string]bool{}
			for _, n := range names {
				named[side][kind][n] = true
			}
		}
	}
	seen := map[string]bool{}
	for _, x := range changed {
		var terms [2]map[int32]bool
		for side := range d.sides {
			terms[side] = d.terms(d.pieces(x, side))
		}
		for side := range d.sides {
			other := 1 - side
			h := d.anchorsOf(d.pieces(x, side))
			miss := func(kind int, text string) {
				key := string(rune('0'+10*side+kind)) + text
				if seen[key] {
					return
				}
				seen[key] = true
				if side == 0 {
					out[kind].Lost = append(out[kind].Lost, text)
				} else {
					out[kind].Gained = append(out[kind].Gained, text)
				}
			}
			for _, st := range h.said {
				if !said[other][st.said] && !holds(st.terms, terms[other]) {
					miss(st.kind, st.text)
				}
			}
			for kind, names := range h.named {
				for _, n := range names {
					if !named[other][kind][n] {
						miss(kind, n)
					}
				}
			}
		}
	}
	return out
}

func (d *differ) number(a *Anchors, side int) *int {
	if side == 0 {
		return &a.A
	}
	return &a.B
}

// terms returns what pieces are about.
func (d *differ) terms(pieces []Piece) map[int32]bool {
	out := map[int32]bool{}
	for _, p := range pieces {
		for _, t := range d.vocabulary.About(p.Text) {
			out[t] = true
		}
	}
	return out
}
