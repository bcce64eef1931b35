package compress

import "slices"

// even asks for as many letters as the tokens of the room have in the units of the session; the larger the room, the
// more it may be off.
func (b *brimmer) even(room int) {
	n, cost := 0, 0
	for i := range b.p.units.n {
		n, cost = n+b.length(int32(i)), cost+int(b.p.units.at(int32(i)).cost)
	}
	if cost == 0 {
		return
	}
	off := min(max(2, room/16), widest)
	b.shortest, b.longest = n*room/cost*(100-shorter-off)/100, n*room/cost*(100-shorter+off)/100
}

// settle exchanges units until they are what is wanted, at last those of the user, too. If no exchange does that, what comes
// nearest to it is better than what there was: two budgets that differ little are then filled alike.
func (b *brimmer) settle(segs []Segment, full bool) ([]Segment, bool) {
	var best []Segment
	off := anyLength
	if full {
		best, off = segs, b.off(b.letters)
	}
	before := slices.Clone(b.p.taken)
	for _, b.all = range []bool{false, true} {
		copy(b.p.taken, before)
		if b.search(segs, func(segs []Segment, good, _ bool) {
			if n := b.off(b.letters); b.full && (good || n < off) {
				best, off = segs, n
			}
		}) {
			break
		}
	}
	b.all = false
	return best, best != nil
}
