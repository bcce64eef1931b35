package compress

import (
	"container/heap"
	"math/bits"
)

// The choice is greedy weighted coverage: take the unit that covers most weight of what is not covered yet, for what
// it costs; what is covered then counts only a twentieth. Weights only ever fall, so a stale score is an upper bound and a
// heap of stale scores finds the best unit without looking at the others: the cost is near linear.
//
// All arithmetic is on integers, so that every machine makes the same choice.

// weights is the say of the three kinds of concepts, in hundredths.
type weights struct{ stem, anchor, pair int64 }

type pool struct {
	units  []unit
	weight []int64 // per concept, what covering it is still worth
	taken  []bool
	round  int // units taken so far
}

func newPool(us []unit, l *lexicon, w weights) *pool {
	p := &pool{units: us, weight: make([]int64, len(l.kinds)), taken: make([]bool, len(us))}
	for c, k := range l.kinds {
		p.weight[c] = log2(int64(l.count[c])+1) * [...]int64{w.stem, w.anchor, w.pair}[k]
	}
	return p
}

// score is what taking u is worth now, per cost to the power .85.
func (p *pool) score(u *unit) int64 {
	gain := int64(0)
	for _, c := range u.about {
		gain += p.weight[c]
	}
	return gain * u.prior / power(int64(u.cost)+2)
}

// fill takes units that want allows, best first, while they fit into budget plain tokens and are worth at least least.
// It returns what they cost.
func (p *pool) fill(budget int, least int64, want func(*unit) bool) int {
	var h ranking
	for i := range p.units {
		u := &p.units[i]
		if !p.taken[i] && int(u.cost) <= budget && want(u) {
			if s := p.score(u); s >= least {
				h = append(h, ranked{s, int32(i), p.round})
			}
		}
	}
	heap.Init(&h)
	left := budget
	for len(h) > 0 {
		top := &h[0]
		u := &p.units[top.unit]
		if int(u.cost) > left {
			heap.Pop(&h)
			continue
		}
		if top.round != p.round {
			top.score, top.round = p.score(u), p.round
			if top.score >= least {
				heap.Fix(&h, 0)
			} else {
				heap.Pop(&h)
			}
			continue
		}
		left -= int(u.cost)
		p.take(int(top.unit))
		heap.Pop(&h)
	}
	return budget - left
}

func (p *pool) take(i int) {
	p.taken[i] = true
	p.round++
	for _, c := range p.units[i].about {
		p.weight[c] /= 20
	}
}

type ranked struct {
	score int64
	unit  int32
	round int
}

type ranking []ranked

func (h ranking) Len() int { return len(h) }
func (h ranking) Less(i, j int) bool {
	return h[i].score > h[j].score || h[i].score == h[j].score && h[i].unit < h[j].unit
}
func (h ranking) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *ranking) Push(x any)   { *h = append(*h, x.(ranked)) }
func (h *ranking) Pop() any {
	x := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return x
}

// log2 is the binary logarithm of n >= 1 in 256ths, linear between the powers of two.
func log2(n int64) int64 {
	k := bits.Len64(uint64(n)) - 1
	return int64(k)<<8 + (n<<8)>>k - 1<<8
}

// power is n to the power .85, in 16ths, linear between the powers of two of the result.
func power(n int64) int64 {
	e := log2(n) * 85 / 100
	return (1<<8 + e&0xff) << (e >> 8) >> 4
}
