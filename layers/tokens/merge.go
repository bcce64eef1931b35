package tokens

// merged returns the number of tokens of p in byte-pair encoding: of all neighbours that form a token together, those
// of the lowest rank are joined, the leftmost first, until there are none.
func merged(p string) int {
	if rankOf(p) != noRank {
		return 1
	}
	m := merger{text: p, parts: make([]part, len(p)), queue: make(queue, 0, len(p))}
	for i := range m.parts {
		m.parts[i] = part{prev: i - 1, next: i + 1, rank: noRank}
	}
	for i := range m.parts {
		m.offer(i)
	}
	left := len(p)
	for len(m.queue) > 0 {
		c := m.queue.pop()
		i := c.at()
		if m.parts[i].rank != c.rank() {
			continue // the pair no longer exists
		}
		m.join(i)
		left--
	}
	return left
}

// A merger contains the parts of a text. A part is identified by its start.
type merger struct {
	text  string
	parts []part
	queue queue
}

type part struct {
	prev, next int    // starts of its neighbours: -1 and the length of the text mean none
	rank       uint32 // of it joined with the next part; noRank if that is not a token
}

// offer updates the rank of the part at i joined with the next one.
func (m *merger) offer(i int) {
	p := &m.parts[i]
	p.rank = noRank
	if p.next == len(m.text) {
		return
	}
	p.rank = rankOf(m.text[i:m.parts[p.next].next])
	if p.rank != noRank {
		m.queue.push(candidate(p.rank)<<32 | candidate(i))
	}
}

// join joins the part at i with the next one.
func (m *merger) join(i int) {
	p := &m.parts[i]
	gone := &m.parts[p.next]
	gone.rank = noRank
	p.next = gone.next
	if p.next < len(m.text) {
		m.parts[p.next].prev = i
	}
	m.offer(i)
	if p.prev >= 0 {
		m.offer(p.prev)
	}
}

// A candidate is a pair that can be joined: its rank in the high bits and its start in the low ones, so that the
// smallest is the next.
type candidate uint64

func (c candidate) rank() uint32 { return uint32(c >> 32) }
func (c candidate) at() int      { return int(uint32(c)) }

// A queue is a heap with the smallest candidate on top.
type queue []candidate

func (q *queue) push(c candidate) {
	h := append(*q, c)
	i := len(h) - 1
	for i > 0 && h[(i-1)/2] > c {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = c
	*q = h
}

func (q *queue) pop() candidate {
	h := *q
	top, c := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	for i := 0; len(h) > 0; {
		k := 2*i + 1
		if k+1 < len(h) && h[k+1] < h[k] {
			k++
		}
		if k >= len(h) || h[k] >= c {
			h[i] = c
			break
		}
		h[i] = h[k]
		i = k
	}
	return top
}
