package compress

import (
	"math/bits"

	"github.com/memvcs/mem/layers/compress/anchors"
)

// The choice is greedy weighted coverage: choose the unit with the highest weight of uncovered concepts for its cost. A
// covered concept then counts only a twentieth. Weights only decrease, so an old score is an upper bound, and a heap of
// old scores finds the best unit without computing the others: the time is near linear.
//
// All arithmetic is on integers, so that every machine makes the same choice.

// weights is the say of the kinds of concepts, in hundredths, and how much a unit's length counts against it.
type weights struct {
	stem, anchor, pair, name int64
	once                     int64 // what is left of an anchor that occurs once only, in hundredths; 0 means all
	exponent                 int64 // of the cost, in hundredths
}

type pool struct {
	unitSet
	single [anchors.Kinds]int64 // what covering a concept is worth that only one unit has
	costs  [512]int64           // by cost, that to the power of the exponent
	weight []int64              // per concept, what covering it is still worth
	taken  []bool
	begun  map[int32]string // units of which only the beginning is written
	round  int              // units taken so far
	order  []int32          // in which they were taken
	listed int              // what the names that were taken cost
	names  int              // what names may cost
	w      weights
}

// coveredDivisor is by how much less a concept counts when a unit has it that was taken.
const coveredDivisor = 20

func newPool(a unitSet, w weights) *pool {
	p := &pool{unitSet: a, taken: make([]bool, a.units.n), begun: map[int32]string{}, w: w}
	for k := range p.single {
		p.single[k] = p.value(concept{Kind: anchors.Kind(k), count: 1})
	}
	for cost := range p.costs {
		p.costs[cost] = power(int64(cost)+2, w.exponent)
	}
	p.weight = p.worth()
	return p
}

// text returns the text of a unit in the output.
func (p *pool) text(i int32) string {
	if text, ok := p.begun[i]; ok {
		return text
	}
	return p.unitSet.text(i)
}

// worth returns the initial weight of each concept.
func (p *pool) worth() []int64 {
	worth := make([]int64, 0, p.lexicon.known.n)
	for _, block := range p.lexicon.known.list {
		for _, x := range block {
			worth = append(worth, p.value(x))
		}
	}
	return worth
}

// value returns the initial weight of a concept.
func (p *pool) value(x concept) int64 {
	v := log2(int64(x.count)+1) * [...]int64{p.w.stem, p.w.anchor, p.w.pair, p.w.name}[x.Kind]
	if x.Kind == anchors.AnchorConcept && x.count == 1 && p.w.once > 0 {
		v = v * p.w.once / 100
	}
	return v
}

// alone returns the weight of the concepts that only unit u has.
func (p *pool) alone(u *unit) int64 {
	sum := int64(0)
	for k, n := range u.alone {
		sum += int64(n) * p.single[k]
	}
	return sum
}

// score returns the current value of unit i for its cost.
func (p *pool) score(i int32) int64 { return p.rate(i, p.about(i)) }

// rate is [pool.score] for a unit with these concepts.
func (p *pool) rate(i int32, about list) int64 {
	u := p.units.at(i)
	gain := p.alone(u)
	for k := range about.len() {
		gain += p.weight[about.at(k)]
	}
	cost := int64(0)
	if int(u.cost) < len(p.costs) {
		cost = p.costs[u.cost]
	} else {
		cost = power(int64(u.cost)+2, p.w.exponent)
	}
	return gain * int64(u.prior) / cost
}

// classSet is a set of classes of units.
type classSet uint16

func setOf(cs ...class) (s classSet) {
	for _, c := range cs {
		s |= 1 << c
	}
	return s
}

// fill chooses units of the classes, best first, while they fit into budget plain tokens and their score is at least
// least. It returns their cost.
func (p *pool) fill(budget int, least int64, want classSet) int {
	h, lists := p.room(budget, want), p.lists.browse()
	for i := range p.units.n {
		if p.fits(i, budget, want) {
			if s := p.rate(int32(i), list(lists.text(i))); s >= least {
				h = append(h, ranked{s, int32(i), int32(p.round)})
			}
		}
	}
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	left := budget
	for len(h) > 0 {
		top := &h[0]
		if !p.fits(int(top.unit), left, want) {
			h.pop()
			continue
		}
		if top.round != int32(p.round) {
			top.score, top.round = p.score(top.unit), int32(p.round)
			if top.score >= least {
				h.down(0)
			} else {
				h.pop()
			}
			continue
		}
		left -= int(p.units.at(top.unit).cost)
		p.take(int(top.unit))
		h.pop()
	}
	return budget - left
}

// wants reports whether a unit of a class was not taken and would add something.
func (p *pool) wants(c class) bool {
	for i := range p.units.n {
		if u := p.units.at(int32(i)); u.class == c && !p.taken[i] && p.score(int32(i)) > 0 {
			return true
		}
	}
	return false
}

// fits reports whether a unit may be taken.
func (p *pool) fits(i, budget int, want classSet) bool {
	u := p.units.at(int32(i))
	return !p.taken[i] && int(u.cost) <= budget && want.has(u.class) && p.hasName(u)
}

// hasName reports whether there is room for a unit in a list, if it is a name.
func (p *pool) hasName(u *unit) bool {
	return !listed.has(u.class) || p.listed+int(u.cost) <= p.names
}

// room returns an empty ranking with room for the units that may be taken.
func (p *pool) room(budget int, want classSet) ranking {
	n := 0
	for i := range p.units.n {
		if p.fits(i, budget, want) {
			n++
		}
	}
	return make(ranking, 0, n)
}

func (p *pool) take(i int) {
	p.taken[i] = true
	p.round++
	p.order = append(p.order, int32(i))
	if u := p.units.at(int32(i)); listed.has(u.class) {
		p.listed += int(u.cost)
	}
	about := p.about(int32(i))
	for k := range about.len() {
		p.weight[about.at(k)] /= coveredDivisor
	}
}

// drop removes a unit. Its concepts still count as covered.
func (p *pool) drop(i int) {
	p.taken[i] = false
	if u := p.units.at(int32(i)); listed.has(u.class) {
		p.listed -= int(u.cost)
	}
}

type ranked struct {
	score       int64
	unit, round int32
}

// A ranking is a heap of units by score.
type ranking []ranked

func (r ranked) before(s ranked) bool {
	return r.score > s.score || r.score == s.score && r.unit < s.unit
}

// down moves the entry at i down to where it belongs.
func (h ranking) down(i int) {
	x := h[i]
	for {
		k := 2*i + 1
		if k >= len(h) {
			break
		}
		if k+1 < len(h) && h[k+1].before(h[k]) {
			k++
		}
		if !h[k].before(x) {
			break
		}
		h[i] = h[k]
		i = k
	}
	h[i] = x
}

// pop drops the first entry.
func (h *ranking) pop() {
	n := len(*h) - 1
	(*h)[0] = (*h)[n]
	if *h = (*h)[:n]; n > 0 {
		h.down(0)
	}
}

// log2 is the binary logarithm of n >= 1 in 256ths, linear between the powers of two.
func log2(n int64) int64 {
	k := bits.Len64(uint64(n)) - 1
	return int64(k)<<8 + (n<<8)>>k - 1<<8
}

// power is n to a power given in hundredths, in 16ths, linear between the powers of two of the result.
func power(n, exponent int64) int64 {
	e := log2(n) * exponent / 100
	return (1<<8 + e&0xff) << (e >> 8) >> 4
}
