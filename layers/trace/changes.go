package trace

import (
	"cmp"
	"slices"
	"strings"
)

// roleMark stands between the role and the text of a line while lines are compared.
const roleMark = "\x00"

// linesOf returns the lines of pieces, each behind its role. Kept texts are compared as markers.
func linesOf(pieces []Piece) []string {
	var out []string
	for _, p := range pieces {
		if p.Keep != "" {
			continue
		}
		for line := range strings.SplitSeq(p.Text, "\n") {
			if strings.TrimSpace(line) != "" {
				out = append(out, p.Role+roleMark+line)
			}
		}
	}
	return out
}

// changes compares the lines of two sides, and the words of what stands in one place on both.
func changes(a, b []string) []Change {
	if slices.Equal(a, b) {
		return nil
	}
	var out []Change
	var del, add []string
	flush := func() {
		if len(del)+len(add) > 0 {
			out = append(out, changed(del, add)...)
		}
		del, add = nil, nil
	}
	for _, e := range Lines(a, b) {
		switch e.Op {
		case Del:
			del = append(del, e.Text)
		case Add:
			add = append(add, e.Text)
		default:
			flush()
		}
	}
	flush()
	return out
}

// common is which share of the shorter of two texts they must have in common, in hundredths, to be the same one in
// other words.
const common = 40

// changed says how lines of the first side became lines of the second.
func changed(del, add []string) []Change {
	if len(del) > 0 && len(add) > 0 {
		role, a := text(del)
		roleB, b := text(add)
		words := Words(a, b)
		if shared(words)*100 >= common*min(letters(a), letters(b)) && role == roleB {
			return []Change{{Role: role, A: a, B: b, Words: words}}
		}
	}
	var out []Change
	for role, text := range byRole(del) {
		out = append(out, Change{Role: role, A: text})
	}
	for role, text := range byRole(add) {
		out = append(out, Change{Role: role, B: text})
	}
	return out
}

// text joins lines; the role is that of all of them, or "" if they differ.
func text(lines []string) (role, joined string) {
	parts := make([]string, len(lines))
	for i, l := range lines {
		r, t, _ := strings.Cut(l, roleMark)
		parts[i] = t
		if i == 0 {
			role = r
		} else if role != r {
			role = ""
		}
	}
	return role, strings.Join(parts, "\n")
}

// byRole yields runs of lines of one role.
func byRole(lines []string) func(yield func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for i := 0; i < len(lines); {
			role, _, _ := strings.Cut(lines[i], roleMark)
			j := i + 1
			for j < len(lines) && strings.HasPrefix(lines[j], role+roleMark) {
				j++
			}
			if _, joined := text(lines[i:j]); !yield(role, joined) {
				return
			}
			i = j
		}
	}
}

// shared and letters count the bytes of words.
func shared(words []Edit) int {
	n := 0
	for _, e := range words {
		if e.Op == Same {
			n += letters(e.Text)
		}
	}
	return n
}

func letters(s string) int {
	n := 0
	for _, r := range s {
		if kindOf(r) == letter || r > 0x2e7f {
			n++
		}
	}
	return n
}

// keepits pairs the markers of a bundle by their place in the message.
func (d *differ) keepits(x bundle) []KeepitChange {
	type place struct{ message, start, end int }
	var out []KeepitChange
	at := map[place]int{}
	for side := range d.sides {
		for _, i := range x.marks[side] {
			m := d.sides[side].Marks[i]
			p := place{m.Mark.Message, m.Mark.TextStart, m.Mark.TextEnd}
			k, ok := at[p]
			if !ok {
				k = len(out)
				at[p] = k
				out = append(out, KeepitChange{Source: x.source, Message: p.message})
			}
			if out[k].Text == "" {
				out[k].Text = m.Mark.Text
			}
			out[k].Sides[side] = Place{true, m.Kept, m.Mark.Weight, m.Judged, m.Threshold, m.Margin}
		}
	}
	for i := range out {
		a, b := out[i].Sides[0], out[i].Sides[1]
		out[i].Changed = a.Known != b.Known || a.Kept != b.Kept || a.Weight != b.Weight
	}
	slices.SortStableFunc(out, func(a, b KeepitChange) int { return cmp.Compare(a.Message, b.Message) })
	return out
}
