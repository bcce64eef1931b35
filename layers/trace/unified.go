package trace

import (
	"fmt"
	"iter"
	"strings"
)

// contextLines is the number of equal lines around a change.
const contextLines = 3

// UnifiedDiff yields the lines of the difference of two texts in the format of diff -u, none if they are equal.
func UnifiedDiff(nameA, nameB, textA, textB string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if textA == textB {
			return
		}
		a, b := textLines(textA), textLines(textB)
		ops := listEdits(a, b) // a missing line end at the end is ignored
		if !yield("--- "+nameA) || !yield("+++ "+nameB) {
			return
		}
		x, y := 0, 0 // lines of the texts before the operation at
		for at := 0; at < len(ops); {
			if ops[at] == Same {
				x, y, at = x+1, y+1, at+1
				continue
			}
			before := min(contextLines, at)
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

// textLines returns the lines of a text. A line end at its end adds no empty line.
func textLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// steps returns 0 if op is none, else 1.
func steps(op, none Op) int {
	if op == none {
		return 0
	}
	return 1
}

// hunkEnd returns the end of the hunk with a change at i, context included.
func hunkEnd(ops []Op, i int) int {
	last := i
	for k := i; k < len(ops) && k-last <= 2*contextLines+1; k++ {
		if ops[k] != Same {
			last = k
		}
	}
	return min(len(ops), last+1+contextLines)
}

// A hunk is a sequence of operations from lines x and y of two texts on.
type hunk struct {
	a, b []string
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
			text = h.b[y]
		} else {
			text = h.a[x]
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
