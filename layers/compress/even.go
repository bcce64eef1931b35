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
	off := max(2, room/16)
	if b.e.version() > 3 {
		off = min(off, widest)
	}
	b.shortest, b.longest = n*room/cost*(100-shorter-off)/100, n*room/cost*(100-shorter+off)/100
}

// settle exchanges units until they are what is wanted, at last those of the user, too. If no exchange does that, what comes
// nearest to it is better than what there was: two budgets that differ little are then filled alike.
func (b *brimmer) settle(segs []Segment, full bool) ([]Segment, bool) {
	best := closest{off: anyLength}
	if full {
		b.good(segs)
		best = closest{segs, b.off(b.letters)}
	}
	before := slices.Clone(b.p.taken)
	for _, b.all = range []bool{false, true} {
		copy(b.p.taken, before)
		if b.approach(segs, &best) {
			break
		}
	}
	b.all = false
	return best.segs, best.segs != nil
}

// A closest is the text that is nearest to the letters that are wanted, of those that fill the room.
type closest struct {
	segs []Segment
	off  int
}

// approach is exchange; best is what comes nearest.
func (b *brimmer) approach(segs []Segment, best *closest) bool {
	clear(b.has)
	for i := range b.p.units.n {
		if b.p.taken[i] {
			b.count(int32(i), 1)
		}
	}
	write := func() bool {
		segs, ok := b.write()
		if off := b.off(b.letters); b.full && (ok || off < best.off) {
			*best = closest{segs, off}
		}
		return ok
	}
	b.good(segs)
	for range rounds {
		tokens, letters := b.tokens, b.letters
		list, nearest := b.find()
		for _, x := range list {
			b.do(x)
			if write() {
				return true
			}
			b.undo(x)
		}
		if nearest.in < 0 {
			return false
		}
		b.tokens, b.letters = tokens, letters
		b.do(nearest)
		if write() {
			return true
		}
		if b.tokens > b.most {
			return false
		}
	}
	return false
}
