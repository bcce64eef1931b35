package trace

import (
	"cmp"
	"slices"

	"github.com/memvcs/mem/layers/version"
)

// A group contains the pieces and marks of both sides that share messages.
type group struct {
	source string
	src    [][2]int
	pieces [2][]int // indices into the pieces of a side, in order
	marks  [2][]int
}

// scatteredRuns is the number of runs of messages from which a piece counts as about the whole session: a list of all
// changed files must not connect everything that it names.
const scatteredRuns = 3

// A node is a piece or a mark before grouping.
type node struct {
	source string
	wide   bool
	src    [][2]int
	side   int
	index  int
	mark   bool
}

// align groups what shares messages, in the order of the conversations and their messages.
func align(sides [2]Side) []group {
	nodes := nodesOf(sides)
	parent := make([]int, len(nodes))
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, run := range overlaps(nodes) {
		parent[find(run[1])] = find(run[0])
	}
	at := map[int]int{}
	var out []group
	for i, n := range nodes {
		root := find(i)
		k, ok := at[root]
		if !ok {
			k = len(out)
			at[root] = k
			out = append(out, group{source: n.source})
		}
		b := &out[k]
		b.src = append(b.src, n.src...)
		if n.mark {
			b.marks[n.side] = append(b.marks[n.side], n.index)
		} else {
			b.pieces[n.side] = append(b.pieces[n.side], n.index)
		}
	}
	order := sources(nodes)
	for i := range out {
		out[i].src = version.Runs(out[i].src...)
	}
	slices.SortStableFunc(out, func(a, b group) int {
		return cmp.Or(cmp.Compare(order[a.source], order[b.source]), cmp.Compare(a.first(), b.first()))
	})
	return out
}

func (b group) first() int {
	if len(b.src) == 0 {
		return 0
	}
	return b.src[0][0]
}

func nodesOf(sides [2]Side) []node {
	var nodes []node
	for s, side := range sides {
		for i, p := range side.Pieces {
			src := version.Runs(p.Src...)
			nodes = append(nodes, node{source: p.Source, wide: len(src) >= scatteredRuns, src: src, side: s, index: i})
		}
		for i, m := range side.Marks {
			n := m.Mark.Message
			nodes = append(nodes, node{source: m.Source, src: [][2]int{{n, n}}, side: s, index: i, mark: true})
		}
	}
	return nodes
}

// sources numbers the conversations in the order of their first occurrence.
func sources(nodes []node) map[string]int {
	order := map[string]int{}
	for _, n := range nodes {
		if _, ok := order[n.source]; !ok {
			order[n.source] = len(order)
		}
	}
	return order
}

// overlaps returns pairs of nodes that share messages, enough to connect all that do. Wide nodes are only connected
// with each other.
func overlaps(nodes []node) [][2]int {
	type run struct {
		node, from, to int
	}
	var runs []run
	for i, n := range nodes {
		for _, r := range n.src {
			runs = append(runs, run{i, r[0], r[1]})
		}
	}
	slices.SortStableFunc(runs, func(a, b run) int {
		x, y := nodes[a.node], nodes[b.node]
		wide := 0
		if x.wide != y.wide {
			wide = 1
			if y.wide {
				wide = -1
			}
		}
		return cmp.Or(cmp.Compare(x.source, y.source), wide, cmp.Compare(a.from, b.from))
	})
	var out [][2]int
	for i, last := 1, 0; i < len(runs); i++ { // last: the run so far with the highest end
		a, b := nodes[runs[last].node], nodes[runs[i].node]
		if a.source == b.source && a.wide == b.wide && runs[i].from <= runs[last].to {
			out = append(out, [2]int{runs[last].node, runs[i].node})
			if runs[i].to > runs[last].to {
				last = i
			}
			continue
		}
		last = i
	}
	return out
}
