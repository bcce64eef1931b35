package compress

// chunkList are a list that grows without being copied: there may be millions of elements.
type chunkList[T any] struct {
	list [][]T // all but the last have blockSize
	n    int
}

const (
	blockShift = 13
	blockSize  = 1 << blockShift
)

// at returns element i.
func (b *chunkList[T]) at(i int32) *T { return &b.list[i>>blockShift][i&(blockSize-1)] }

func (b *chunkList[T]) add(x T) {
	last := len(b.list) - 1
	switch {
	case last < 0: // most lists are short
		b.list, last = append(b.list, nil), 0
	case len(b.list[last]) == blockSize:
		b.list, last = append(b.list, make([]T, 0, blockSize)), last+1
	}
	b.list[last] = append(b.list[last], x)
	b.n++
}

// A digestSet holds digests, in little more than their size: a map of millions takes twice as much.
type digestSet struct{ shards [256]digestShard }

// A digestShard is a table of digests; the zero digest is in none.
type digestShard struct {
	table []digest
	n     int
}

// add adds a digest and reports whether it was not in the set.
func (s *digestSet) add(d digest) bool {
	d[1] |= 1
	h := &s.shards[d[0]>>56]
	if h.n >= len(h.table)*7/8 {
		h.grow()
	}
	at := h.place(d)
	if h.table[at] == d {
		return false
	}
	h.table[at], h.n = d, h.n+1
	return true
}

// place returns the position of a digest, or the free one where it belongs.
func (h *digestShard) place(d digest) int {
	at := int(d[0] % uint64(len(h.table)))
	for h.table[at] != d && h.table[at] != (digest{}) {
		if at++; at == len(h.table) {
			at = 0
		}
	}
	return at
}

func (h *digestShard) grow() {
	old := h.table
	h.table = make([]digest, 16+len(old)*5/4)
	for _, d := range old {
		if d != (digest{}) {
			h.table[h.place(d)] = d
		}
	}
}
