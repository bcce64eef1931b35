package main

import (
	"strings"

	"github.com/memvcs/mem/refs"
)

// A graph draws operations, the newest first, beside what they used: a lane leads down from each to the operations whose
// results it was made from.
type graph struct {
	lanes []string // the commit that each lane leads to, "" for a free lane
}

// node returns what to draw for an operation: a line that joins the lanes which lead to it, "" if there is one at most,
// and its own. Parents are the commits to draw lanes to; they must be drawn later.
func (g *graph) node(commit string, parents []string, sign byte) (above, own string) {
	at := -1
	var more []int
	for i, lane := range g.lanes {
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
	g.lanes[at] = ""
	row := g.bars()
	row = put(row, 2*at, sign)
	for i, p := range parents {
		if i == 0 {
			g.lanes[at] = p
			continue
		}
		k := g.free(at + 1)
		g.lanes[k] = p
		row = branch(row, 2*at, 2*k, '.')
	}
	g.trim()
	return above, strings.TrimRight(string(row), " ")
}

// free returns a lane from the given one on that leads nowhere.
func (g *graph) free(from int) int {
	for i := from; i < len(g.lanes); i++ {
		if g.lanes[i] == "" {
			return i
		}
	}
	for len(g.lanes) < from {
		g.lanes = append(g.lanes, "")
	}
	g.lanes = append(g.lanes, "")
	return len(g.lanes) - 1
}

func (g *graph) trim() {
	for n := len(g.lanes); n > 0 && g.lanes[n-1] == ""; n-- {
		g.lanes = g.lanes[:n-1]
	}
}

// bars draws the lanes as they are.
func (g *graph) bars() []byte {
	var row []byte
	for i, lane := range g.lanes {
		if lane != "" {
			row = put(row, 2*i, '|')
		}
	}
	return row
}

// beside returns what to draw beside further lines of the operation that was drawn last.
func (g *graph) beside() string { return string(g.bars()) }

// join draws that lanes end in the lane to, to the left of them.
func (g *graph) join(to int, from []int) string {
	row := g.bars()
	for _, i := range from {
		g.lanes[i] = ""
	}
	row = branch(row, 2*to, 2*from[len(from)-1], '\'')
	for _, i := range from {
		row = put(row, 2*i, '\'')
	}
	return strings.TrimRight(string(row), " ")
}

// put writes a sign into a row, which grows as it must.
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

// drawn keeps of the parents of operations those that are drawn below them.
func drawn(entries []refs.Entry, parents func(refs.Entry) []string) map[string][]string {
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
