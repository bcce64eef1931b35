package transcript

import (
	"cmp"
	"io"
	"slices"
	"strings"
)

// Spans are runs of message numbers, first and last, ascending.
type Spans [][2]int

// Has reports whether n is in one of the spans.
func (s Spans) Has(n int) bool {
	_, ok := slices.BinarySearchFunc(s, n, func(x [2]int, n int) int {
		switch {
		case x[1] < n:
			return -1
		case x[0] > n:
			return 1
		}
		return 0
	})
	return ok
}

// A Rewind is the statement of a record that withdraws earlier ones. Claude Code writes none: its records form a tree.
type Rewind struct {
	Turns int    // the number of the last turns that are withdrawn
	To    string // the first withdrawn record
}

// A Tree finds the messages of a session that the user withdrew.
//
// Each record of Claude Code names its parent. To rewind is to write a prompt in place of an earlier one: below the
// same parent. So a prompt is withdrawn, with all records below it, if the conversation continued with another prompt
// at its place. Not every branch is a rewind. Parallel calls, retries, hooks and damage make more branches than users
// do, and a wrong answer would hide what was said; so a turn holds unless all of this is certain:
//
//   - Both are prompts, or commands of the user, and the nearest messages above them are one and the same, or one and
//     the same that is missing. A prompt without a parent has no place: it holds.
//   - Of all that follows this message, the end of the session is below the later prompt.
//   - No message below the later prompt is between those below the earlier one. Two clients that write into one file
//     alternate; a user does not.
//
// Other agents write linear sessions, with records that say what is withdrawn ([Rewind]).
//
// The zero Tree is ready to use.
type Tree struct {
	nodes   []treeNode
	byID    map[string]int
	missing map[string]int
	turns   []int // numbers of the prompts of a linear session that hold
	recaps  []int // those of summaries, which stay when the messages that they stand for are withdrawn
	spans   Spans
	n       int
	command Command
}

type treeNode struct {
	n               int
	parent, logical string
	kind            nodeKind
}

type nodeKind uint8

const (
	neutralNode nodeKind = iota // bookkeeping between messages
	resultNode
	answerNode
	promptNode
)

// Add adds the next message. Messages must be added in order.
func (t *Tree) Add(m Message) {
	t.n = m.N
	t.command.Mark(&m)
	if m.Rewind != (Rewind{}) {
		t.rewind(m)
		return
	}
	if m.Sidechain || m.AgentID != "" {
		return
	}
	if m.CompactSummary {
		t.recaps = append(t.recaps, m.N)
	}
	kind := kindOf(m)
	if m.ParentUUID == "" && kind == promptNode {
		t.turns = append(t.turns, m.N)
	}
	if m.UUID == "" {
		return
	}
	if t.byID == nil {
		t.byID, t.missing = map[string]int{}, map[string]int{}
	}
	if _, twice := t.byID[m.UUID]; twice {
		kind = neutralNode // a copy is where the first one is
		t.nodes = append(t.nodes, treeNode{n: m.N, parent: m.UUID, kind: kind})
		return
	}
	t.byID[m.UUID] = len(t.nodes)
	t.nodes = append(t.nodes, treeNode{m.N, m.ParentUUID, m.LogicalParent, kind})
}

// rewind withdraws the records that m names.
func (t *Tree) rewind(m Message) {
	from := 0
	switch i, ok := t.byID[m.Rewind.To]; {
	case ok:
		from = t.nodes[i].n
	case m.Rewind.Turns > 0 && len(t.turns) > 0:
		from = t.turns[max(0, len(t.turns)-m.Rewind.Turns)]
	default:
		return // of what is not here
	}
	t.turns = slices.DeleteFunc(t.turns, func(n int) bool { return n >= from })
	for _, n := range t.recaps {
		if n >= from {
			if n > from {
				t.spans = append(t.spans, [2]int{from, n - 1})
			}
			from = n + 1
		}
	}
	t.spans = append(t.spans, [2]int{from, m.N})
}

func kindOf(m Message) nodeKind {
	switch {
	case m.Type == "assistant" && m.Message != nil:
		return answerNode
	case m.Type != "user" || m.Message == nil || m.Meta || m.CompactSummary:
		return neutralNode
	case slices.ContainsFunc(m.Blocks, func(b Block) bool { return b.Kind == ToolResult }):
		return resultNode
	}
	if _, ok := Typed(m); ok {
		return promptNode
	}
	if _, ok := PlanSentBack(m); ok {
		return promptNode
	}
	text := strings.TrimSpace(firstText(m))
	for _, mark := range []string{"<command-name>", "<command-message>", "<bash-input>"} {
		if strings.HasPrefix(text, mark) {
			return promptNode
		}
	}
	return neutralNode
}

// Rewound returns the messages that the user withdrew.
func (t *Tree) Rewound() Spans {
	withdrawn := t.withdrawn()
	for i := 0; i < len(t.nodes); i++ {
		if !withdrawn[i] {
			continue
		}
		j := i
		for j+1 < len(t.nodes) && withdrawn[j+1] {
			j++
		}
		t.spans = append(t.spans, [2]int{t.nodes[i].n, t.nodes[j].n}) // with what has no place in the tree between them
		i = j
	}
	slices.SortFunc(t.spans, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	var out Spans
	for _, s := range t.spans {
		if n := len(out); n > 0 && s[0] <= out[n-1][1]+1 {
			out[n-1][1] = max(out[n-1][1], s[1])
			continue
		}
		out = append(out, s)
	}
	return out
}

// withdrawn returns which nodes are below a prompt that the user withdrew.
func (t *Tree) withdrawn() []bool {
	above := t.above()
	below := map[int][]int{}
	for i, x := range t.nodes {
		if x.kind != neutralNode {
			below[above[i]] = append(below[above[i]], i)
		}
	}
	roots := map[int]bool{}
	for parent, kids := range below {
		if parent != noMessage {
			t.replaced(kids, below, roots)
		}
	}
	if len(roots) == 0 {
		return make([]bool, len(t.nodes))
	}
	out, known := make([]bool, len(t.nodes)), make([]bool, len(t.nodes))
	var path []int
	for i := range t.nodes {
		path = path[:0]
		at, ok := i, true
		for ok && !known[at] {
			known[at], out[at] = true, roots[at]
			path = append(path, at)
			if out[at] {
				break
			}
			at, ok = t.parent(at)
		}
		if ok && out[at] {
			for _, p := range path {
				out[p] = true
			}
		}
	}
	return out
}

// replaced adds those of kids, the nodes below one message, to roots that are prompts in whose place another prompt
// was written.
func (t *Tree) replaced(kids []int, below map[int][]int, roots map[int]bool) {
	prompts := 0
	for _, k := range kids {
		if t.nodes[k].kind == promptNode {
			prompts++
		}
	}
	if prompts < 2 {
		return
	}
	said := make([][]int, len(kids)) // numbers of the prompts and answers below each
	last := 0
	for i, k := range kids {
		said[i] = t.said(k, below)
		if said[i][len(said[i])-1] > said[last][len(said[last])-1] {
			last = i
		}
	}
	if t.nodes[kids[last]].kind != promptNode {
		return
	}
	for i, k := range kids {
		if i == last || t.nodes[k].kind != promptNode {
			continue
		}
		from, to := said[i][0], said[i][len(said[i])-1]
		if !slices.ContainsFunc(said[last], func(n int) bool { return from < n && n < to }) {
			roots[k] = true
		}
	}
}

// said returns the numbers of the prompts and answers at and below node k, ascending; that of k if there is none.
func (t *Tree) said(k int, below map[int][]int) []int {
	var out []int
	seen := map[int]bool{k: true}
	for todo := []int{k}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if x := t.nodes[at]; at == k || x.kind == promptNode || x.kind == answerNode {
			out = append(out, x.n)
		}
		for _, b := range below[at] {
			if !seen[b] {
				seen[b] = true
				todo = append(todo, b)
			}
		}
	}
	slices.Sort(out)
	return out
}

// noMessage is what is above a node that has no message above it.
const noMessage = -1

// above returns for each node the nearest message above it; noMessage; or less for one that is missing.
func (t *Tree) above() []int {
	const unknown, visited = 1 << 40, 1<<40 + 1
	out := make([]int, len(t.nodes))
	for i := range out {
		out[i] = unknown
	}
	var path []int
	for i := range t.nodes {
		path = path[:0]
		at, found := i, noMessage
		for {
			if out[at] == visited {
				break // a circle
			}
			if out[at] != unknown {
				found = out[at]
				break
			}
			out[at] = visited
			path = append(path, at)
			up, ok := t.parent(at)
			if !ok {
				if x := t.nodes[at]; x.parent != "" {
					found = t.missingAs(x.parent)
				}
				break
			}
			if t.nodes[up].kind != neutralNode {
				found = up
				break
			}
			at = up
		}
		for _, p := range path {
			out[p] = found
		}
	}
	return out
}

// missingAs returns the number of a message that is missing.
func (t *Tree) missingAs(id string) int {
	n, ok := t.missing[id]
	if !ok {
		n = noMessage - 1 - len(t.missing)
		t.missing[id] = n
	}
	return n
}

// parent returns the parent of node i. That of a compaction is the record before it.
func (t *Tree) parent(i int) (int, bool) {
	x := t.nodes[i]
	p, ok := t.byID[cmp.Or(x.parent, x.logical)]
	return p, ok && p != i
}

// Rewound returns the messages of a session that the user withdrew; see [Tree].
func Rewound(r io.Reader) (Spans, error) {
	var t Tree
	for v, err := range Stream(r, Longest) {
		if err != nil {
			return nil, err
		}
		if v.Opaque {
			continue
		}
		if m, err := decode(v, false); err == nil { // else it is no record
			t.Add(m)
		}
	}
	return t.Rewound(), nil
}

// Forks reports whether m may begin a branch after a rewind, if tip is the uuid of the record before it. It is cheap and
// often wrong.
func (m Message) Forks(tip string) bool {
	return m.Rewind != (Rewind{}) ||
		m.Type == "user" && !m.Sidechain && m.ParentUUID != "" && m.ParentUUID != tip && firstText(m) != ""
}

// InTree reports whether m is a record in the tree of turns, whose uuid is the next tip.
func (m Message) InTree() bool { return m.UUID != "" && !m.Sidechain && m.AgentID == "" }
