package trace

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// A line is one of a piece, and who said it.
type line struct{ role, text string }

// linesOf returns the lines of pieces. Kept texts are compared as markers.
func linesOf(pieces iter.Seq[spoken]) []line {
	var out []line
	for p := range pieces {
		if p.Keep != "" {
			continue
		}
		for text := range strings.SplitSeq(p.text, "\n") {
			if strings.TrimSpace(text) != "" {
				out = append(out, line{p.Role, text})
			}
		}
	}
	return out
}

// changes compares the lines of two sides, and the words of what stands in one place on both.
func changes(a, b []line) []Change {
	if slices.Equal(a, b) {
		return nil
	}
	var out []Change
	i, j, del, add := 0, 0, 0, 0
	flush := func() {
		if del+add > 0 {
			out = append(out, changed(a[i-del:i], b[j-add:j])...)
		}
		del, add = 0, 0
	}
	for _, op := range compare(a, b) {
		switch op {
		case Del:
			i, del = i+1, del+1
		case Add:
			j, add = j+1, add+1
		default:
			flush()
			i, j = i+1, j+1
		}
	}
	flush()
	return out
}

// common is which share of the shorter of two texts they must have in common, in hundredths, to be the same one in
// other words.
const common = 40

// changed says how lines of the first side became lines of the second.
func changed(del, add []line) []Change {
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
func text(lines []line) (role, joined string) {
	if len(lines) == 1 {
		return lines[0].role, lines[0].text
	}
	parts := make([]string, len(lines))
	for i, l := range lines {
		parts[i] = l.text
		if i == 0 {
			role = l.role
		} else if role != l.role {
			role = ""
		}
	}
	return role, strings.Join(parts, "\n")
}

// byRole yields runs of lines of one role.
func byRole(lines []line) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i := 0; i < len(lines); {
			role, j := lines[i].role, i+1
			for j < len(lines) && lines[j].role == role {
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
