package trace

import (
	"fmt"
	"iter"
	"slices"
)

// around is how many equal lines stand around a change.
const around = 3

// Unified yields the lines of the difference of two texts by lines, in the form that diff -u prints; none if
// they are equal. The texts are of one [Lines].
func Unified(nameA, nameB string, a, b *Text) iter.Seq[string] {
	return func(yield func(string) bool) {
		if slices.Equal(a.ids, b.ids) && a.open == b.open {
			return
		}
		ops := script(a.ids, b.ids, len(a.of.known)) // a line end more or less at the end makes no difference
		if !yield("--- "+nameA) || !yield("+++ "+nameB) {
			return
		}
		x, y := 0, 0 // lines of the texts before the operation at
		for at := 0; at < len(ops); {
			if ops[at] == Same {
				x, y, at = x+1, y+1, at+1
				continue
			}
			before := min(around, at)
			h := hunk{a: a, b: b, x: x - before, y: y - before, ops: ops[at-before : hunkEnd(ops, at)]}
			if !h.yield(yield) {
				return
			}
			for _, op := range h.ops[before:] {
				x, y, at = x+steps(op, Add), y+steps(op, Del), at+1
			}
		}
	}
}

// steps is 0 for the operation that a text has no line of, else 1.
func steps(op, none Op) int {
	if op == none {
		return 0
	}
	return 1
}

// hunkEnd returns where the hunk ends that has a change at i: behind the lines around its last change.
func hunkEnd(ops []Op, i int) int {
	last := i
	for k := i; k < len(ops) && k-last <= 2*around+1; k++ {
		if ops[k] != Same {
			last = k
		}
	}
	return min(len(ops), last+1+around)
}

// A hunk is a number of operations from the lines x and y of two texts on.
type hunk struct {
	a, b *Text
	x, y int
	ops  []Op
}

func (h hunk) yield(yield func(string) bool) bool {
	n, m := 0, 0
	for _, op := range h.ops {
		n, m = n+steps(op, Add), m+steps(op, Del)
	}
	if !yield(fmt.Sprintf("@@ -%s +%s @@", hunkRange(h.x, n), hunkRange(h.y, m))) {
		return false
	}
	x, y := h.x, h.y
	for _, op := range h.ops {
		text := ""
		if op == Add {
			text = h.b.line(y)
		} else {
			text = h.a.line(x)
		}
		if !yield(string(op) + text) {
			return false
		}
		x, y = x+steps(op, Add), y+steps(op, Del)
	}
	return true
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
