package historycmd

import (
	"strings"

	"github.com/memvcs/mem/refs"
)

// A Graph draws operations, the newest first, like git log --graph: a lane leads down from each operation to those
// whose results it used.
type Graph struct {
	Lanes []string // the commit that each lane leads to, "" for a free lane
}

// Node returns the drawing of an operation: a line that joins the lanes to it, "" if there is at most one, and its own
// line. Parents are the commits to draw lanes to; they must be drawn later.
func (g *Graph) Node(commit string, parents []string, sign byte) (above, own string) {
	at := -1
	var more []int
	for i, lane := range g.Lanes {
		switch {
		case lane != commit:
		case at < 0:
			at = i
		default:
			more = append(more, i)
		}
	}
	if len(more) > 0 {
		above = g.join(at, more)
	}
	if at < 0 {
		at = g.free(0)
	}
	g.Lanes[at] = ""
	row := g.bars()
	row = put(row, 2*at, sign)
	for i, p := range parents {
		if i == 0 {
			g.Lanes[at] = p
			continue
		}
		k := g.free(at + 1)
		g.Lanes[k] = p
		row = branch(row, 2*at, 2*k, '.')
	}
	g.trim()
	return above, strings.TrimRight(string(row), " ")
}

// free returns the first unused lane from the given one on.
func (g *Graph) free(from int) int {
	for i := from; i < len(g.Lanes); i++ {
		if g.Lanes[i] == "" {
			return i
		}
	}
	for len(g.Lanes) < from {
		g.Lanes = append(g.Lanes, "")
	}
	g.Lanes = append(g.Lanes, "")
	return len(g.Lanes) - 1
}

func (g *Graph) trim() {
	for n := len(g.Lanes); n > 0 && g.Lanes[n-1] == ""; n-- {
		g.Lanes = g.Lanes[:n-1]
	}
}

// bars draws the current lanes.
func (g *Graph) bars() []byte {
	var row []byte
	for i, lane := range g.Lanes {
		if lane != "" {
			row = put(row, 2*i, '|')
		}
	}
	return row
}

// indent returns the lanes to draw on further lines of the last operation.
func (g *Graph) indent() string { return string(g.bars()) }

// join draws that lanes end in the lane to, to the left of them.
func (g *Graph) join(to int, from []int) string {
	row := g.bars()
	for _, i := range from {
		g.Lanes[i] = ""
	}
	row = branch(row, 2*to, 2*from[len(from)-1], '\'')
	for _, i := range from {
		row = put(row, 2*i, '\'')
	}
	return strings.TrimRight(string(row), " ")
}

// put writes a sign into a row and extends the row if needed.
func put(row []byte, at int, sign byte) []byte {
	for len(row) <= at {
		row = append(row, ' ')
	}
	row[at] = sign
	return row
}

// branch draws a line from one place in a row to another, across the lanes between.
func branch(row []byte, from, to int, end byte) []byte {
	row = put(row, to, end)
	for i := from + 1; i < to; i++ {
		switch row[i] {
		case ' ':
			row[i] = '-'
		case '|':
			row[i] = '+'
		}
	}
	return row
}

// shownParents returns the parents of each operation that the graph shows below it.
func shownParents(entries []refs.Entry, parents func(refs.Entry) []string) map[string][]string {
	place := map[string]int{}
	for i, en := range entries {
		place[en.Commit] = i
	}
	out := map[string][]string{}
	for i, en := range entries {
		for _, p := range parents(en) {
			if k, ok := place[p]; ok && k > i {
				out[en.Commit] = append(out[en.Commit], p)
			}
		}
	}
	return out
}
