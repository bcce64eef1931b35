package trace

import (
	"fmt"
	"strings"
)

// around is how many equal lines stand around a change.
const around = 3

// Unified returns the difference of two texts by lines, in the form that diff -u prints; "" if they are equal.
func Unified(nameA, nameB, a, b string) string {
	if a == b {
		return ""
	}
	edits := Lines(lines(a), lines(b)) // a line end more or less at the end makes no difference
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", nameA, nameB)
	for i := 0; i < len(edits); {
		if edits[i].Op == Same {
			i++
			continue
		}
		from, to := max(0, i-around), hunkEnd(edits, i)
		writeHunk(&out, edits, from, to)
		i = to
	}
	return out.String()
}

// lines returns the lines of a text.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// hunkEnd returns where the hunk ends that has a change at i: behind the lines around its last change.
func hunkEnd(edits []Edit, i int) int {
	last := i
	for k := i; k < len(edits) && k-last <= 2*around+1; k++ {
		if edits[k].Op != Same {
			last = k
		}
	}
	return min(len(edits), last+1+around)
}

func writeHunk(out *strings.Builder, edits []Edit, from, to int) {
	var start, count [2]int
	for i, e := range edits[:to] {
		for side, other := range [2]Op{Add, Del} {
			switch {
			case e.Op == other:
			case i < from:
				start[side]++
			default:
				count[side]++
			}
		}
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", hunkRange(start[0], count[0]), hunkRange(start[1], count[1]))
	for _, e := range edits[from:to] {
		out.WriteByte(byte(e.Op))
		out.WriteString(e.Text)
		out.WriteByte('\n')
	}
}

func hunkRange(before, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", before)
	case 1:
		return fmt.Sprint(before + 1)
	}
	return fmt.Sprintf("%d,%d", before+1, count)
}
