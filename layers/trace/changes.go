package trace

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// A line is a line of a piece with its speaker.
type line struct{ role, text string }

// linesOf returns the lines of pieces without kept texts, which are compared as markers.
func linesOf(pieces iter.Seq[*Piece]) []line {
	var out []line
	for p := range pieces {
		if p.Keep != "" {
			continue
		}
		for text := range strings.SplitSeq(p.Text, "\n") {
			if strings.TrimSpace(text) != "" {
				out = append(out, line{p.Role, text})
			}
		}
	}
	return out
}

// changes compares the lines of two sides, and the words of lines that replace each other.
func changes(a, b []line) []Change {
	if slices.Equal(a, b) {
		return nil
	}
	var out []Change
	i, j, del, add := 0, 0, 0, 0
	flush := func() {
		if del+add > 0 {
			out = append(out, changeOf(a[i-del:i], b[j-add:j])...)
		}
		del, add = 0, 0
	}
	for _, op := range listEdits(a, b) {
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

// minShared is the share of the letters of the shorter of two texts, in hundredths, that they must have in common to
// count as a rewording.
const minShared = 40

// changeOf returns the changes that replace lines of the first side by lines of the second.
func changeOf(del, add []line) []Change {
	if len(del) > 0 && len(add) > 0 {
		role, a := joinLines(del)
		roleB, b := joinLines(add)
		words := Words(a, b)
		if sharedLetters(words)*100 >= minShared*min(countLetters(a), countLetters(b)) && role == roleB {
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

// joinLines joins lines; the role is "" if they differ in it.
func joinLines(lines []line) (role, joined string) {
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
			if _, joined := joinLines(lines[i:j]); !yield(role, joined) {
				return
			}
			i = j
		}
	}
}

// sharedLetters counts the letters of the common words.
func sharedLetters(words []Edit) int {
	n := 0
	for _, e := range words {
		if e.Op == Same {
			n += countLetters(e.Text)
		}
	}
	return n
}

func countLetters(s string) int {
	n := 0
	for _, r := range s {
		if isLetter(r) || r > 0x2e7f {
			n++
		}
	}
	return n
}

// keepits pairs the markers of a group by their place in the message.
func (d *differ) keepits(x group) []KeepitChange {
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
			out[k].Sides[side] = MarkerState{true, m.Kept, m.Mark.Weight, m.Judged, m.Threshold, m.Margin}
		}
	}
	for i := range out {
		a, b := out[i].Sides[0], out[i].Sides[1]
		out[i].Changed = a.Known != b.Known || a.Kept != b.Kept || a.Weight != b.Weight
	}
	slices.SortStableFunc(out, func(a, b KeepitChange) int { return cmp.Compare(a.Message, b.Message) })
	return out
}
