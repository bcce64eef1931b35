package compress

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/compress/anchors"
)

// A budget of a few lines is hard to fill: the best units leave a gap that no other unit fits. An exchanger replaces
// units until at most a tenth of the tokens is unused and the text is about as long as the same number of tokens of the
// session, so that a budget in letters is met too. Each exchange is the one that loses least. If not one unit fits, the
// beginning of a unit is written, with an ellipsis.

const (
	smallRoom = 256 // plain tokens; in a larger room a tenth is many lines, which are taken one by one
	likely    = 4   // units of one cost that are tried
	verified  = 24  // exchanges that are written out, the best first
	rounds    = 5   // exchanges that are made
	shorter   = 3   // per cent that a text is shorter than the tokens of the room would be
	widest    = 10  // per cent that a text may be longer or shorter than usual
	sign      = " …"
)

// A exchanger is a choice of units for a small room.
type exchanger struct {
	e     *extractor
	p     *pool
	items []Item

	minTokens, maxTokens   int  // the limits in plain tokens
	minLetters, maxLetters int  // the limits in letters
	tokens, letters        int  // of the text that was measured last
	full                   bool // that text meets the limits in tokens

	all bool // units of the user may be removed too

	value []int64 // by concept: its initial weight
	has   []int32 // by concept: the number of chosen units with it
}

// An exchange removes one unit and adds one or two; -1 is none.
type exchange struct {
	out, in, also int32
	worth         int64
	distance      int // letters that are missing or too many
}

// fillSmall returns segments that fill a small room, if there are units for it; otherwise segs.
func (e *extractor) fillSmall(p *pool, req Request, room int, segs []Segment) []Segment {
	if room > smallRoom {
		return segs
	}
	b := &exchanger{e: e, p: p, items: req.Items, minTokens: room, maxTokens: room, maxLetters: anyLength}
	for b.minTokens > 1 && 10*req.Count.Scale(b.minTokens-1) >= 9*req.Budget {
		b.minTokens--
	}
	full := b.measure(segs)
	b.setLength(room)
	if b.measure(segs) {
		return segs
	}
	b.value, b.has = p.worth(), make([]int32, len(p.weight))
	taken := slices.Clone(p.taken)
	var better []Segment
	var ok bool
	if better, ok = b.improve(segs, full); ok {
		return better
	}
	copy(p.taken, taken)
	if b.minLetters, b.maxLetters = 0, anyLength; full {
		return segs
	}
	if better, ok = b.exchange(segs); ok {
		return better
	}
	copy(p.taken, taken)
	if len(segs) > 0 {
		return segs
	}
	better, _ = b.cut()
	return better
}

const anyLength = 1 << 30

// length is how many letters a unit takes when it is written.
func (b *exchanger) length(i int32) int {
	return utf8.RuneCountInString(b.p.text(i)) + 2*int(frame(b.p.units.at(i).class)) - 1
}

// measure measures segments and says whether they are what is wanted.
func (b *exchanger) measure(segs []Segment) bool {
	text, page := b.e.sizes.both(segs)
	b.tokens, b.letters = max(text, page), utf8.RuneCountInString(Text(segs))
	b.full = b.tokens <= b.maxTokens && min(text, page) >= b.minTokens && b.e.tooMany(segs) == 0
	return b.full && b.minLetters <= b.letters && b.letters <= b.maxLetters
}

// write renders what is taken.
func (b *exchanger) write() ([]Segment, bool) {
	segs := render(b.p, b.items)
	return segs, b.measure(segs)
}

// exchange exchanges units until the limits are met. The state between two rounds does not count, even if it meets
// them: this keeps the output of earlier versions.
func (b *exchanger) exchange(segs []Segment) (wanted []Segment, ok bool) {
	b.search(segs, func(segs []Segment, good, left bool) {
		if good && !left {
			wanted, ok = segs, true
		}
	})
	return wanted, ok
}

// search exchanges units in rounds until the limits are met, and reports whether they are. It calls tried for each
// text: good says that it meets the limits, left that it is the state after a round without a good one.
func (b *exchanger) search(segs []Segment, tried func(segs []Segment, good, left bool)) bool {
	clear(b.has)
	b.p.listed = 0
	for i := range b.p.units.n {
		if b.p.taken[i] {
			b.put(int32(i), true)
		}
	}
	try := func(x exchange, left bool) bool {
		b.do(x)
		segs, good := b.write()
		tried(segs, good, left)
		return good
	}
	b.measure(segs)
	for range rounds {
		best, nearest := b.find()
		for _, x := range best {
			if try(x, false) {
				return true
			}
			b.undo(x)
		}
		if nearest.in < 0 {
			return false
		}
		if try(nearest, true) {
			return true
		}
		if b.tokens > b.maxTokens {
			return false
		}
	}
	return false
}

func (b *exchanger) do(x exchange)   { b.set(x, true) }
func (b *exchanger) undo(x exchange) { b.set(x, false) }

func (b *exchanger) set(x exchange, in bool) {
	b.put(x.out, !in)
	b.put(x.in, in)
	b.put(x.also, in)
}

// put adds or removes a unit; -1 is none.
func (b *exchanger) put(i int32, taken bool) {
	if i < 0 {
		return
	}
	by := int32(1)
	if b.p.taken[i] = taken; !taken {
		by = -1
	}
	b.count(i, by)
	if u := b.p.units.at(i); listed.has(u.class) {
		b.p.listed += int(by * u.cost)
	}
}

func (b *exchanger) count(i, by int32) {
	about := b.p.about(i)
	for k := range about.len() {
		b.has[about.at(k)] += by
	}
}

// gain returns the value that a unit adds to the chosen units.
func (b *exchanger) gain(i int32) int64 {
	u, about := b.p.units.at(i), b.p.about(i)
	sum := b.p.alone(u)
	for k := range about.len() {
		c := about.at(k)
		w := b.value[c]
		for range min(b.has[c], 4) {
			w /= coveredDivisor
		}
		sum += w
	}
	return sum * int64(u.prior)
}

// find returns the exchanges that should meet the limits, the best first, and the one nearest to the limits.
func (b *exchanger) find() (best []exchange, nearest exchange) {
	nearest = exchange{in: -1, distance: b.distance(b.letters)}
	more := b.candidates()
	gains := make([]int64, len(more))
	try := func(x exchange, tokens, letters int) {
		if tokens < b.minTokens || tokens > b.maxTokens {
			return
		}
		if x.distance = b.distance(letters); x.distance < nearest.distance || x.distance == nearest.distance && nearest.in >= 0 && x.worth > nearest.worth {
			nearest = x
		}
		if b.minLetters <= letters && letters <= b.maxLetters {
			best = keepBest(best, x)
		}
	}
	without := func(out int32, lost int64, tokens, letters int) {
		for k, i := range more {
			gains[k] = b.gain(i)
		}
		for k, i := range more {
			u := b.p.units.at(i)
			tokens, letters := tokens+int(u.cost), letters+b.length(i)
			try(exchange{out: out, in: i, also: -1, worth: gains[k] - lost}, tokens, letters)
			for l := k + 1; l < len(more); l++ {
				v := b.p.units.at(more[l])
				if listed.has(u.class) && listed.has(v.class) {
					continue // at most one more name
				}
				if tokens+int(v.cost) > b.maxTokens {
					break // they are sorted by cost
				}
				try(exchange{out: out, in: i, also: more[l], worth: gains[k] + gains[l] - lost}, tokens+int(v.cost),
					letters+b.length(more[l]))
			}
		}
	}
	without(-1, 0, b.tokens, b.letters)
	for i := range b.p.units.n {
		if u := b.p.units.at(int32(i)); b.p.taken[i] && (u.class != userClass || b.all) && u.class != failure {
			b.count(int32(i), -1)
			without(int32(i), b.gain(int32(i)), b.tokens-int(u.cost), b.letters-b.length(int32(i)))
			b.count(int32(i), 1)
		}
	}
	return best, nearest
}

// distance is how far a length is from the middle of what is wanted.
func (b *exchanger) distance(letters int) int {
	n := letters - (b.minLetters+b.maxLetters)/2
	return max(n, -n)
}

// keepBest puts an exchange into a list of the best.
func keepBest(list []exchange, x exchange) []exchange {
	if len(list) == verified {
		if list[verified-1].worth >= x.worth {
			return list
		}
		list = list[:verified-1]
	}
	at := len(list)
	for at > 0 && list[at-1].worth < x.worth {
		at--
	}
	return slices.Insert(list, at, x)
}

// candidates are the units that may come in, by cost; of those of one cost, the ones that add most.
func (b *exchanger) candidates() []int32 {
	type scored struct {
		unit int32
		gain int64
	}
	byCost := make([][]scored, b.maxTokens+1)
	for i := range b.p.units.n {
		u := b.p.units.at(int32(i))
		if b.p.taken[i] || int(u.cost) > b.maxTokens || !b.p.hasName(u) || !listed.has(u.class) && u.traits&traitBare != 0 {
			continue // a line that tells nothing alone is no better than the gap
		}
		s, list := scored{int32(i), b.gain(int32(i))}, byCost[u.cost]
		at := len(list)
		for at > 0 && list[at-1].gain < s.gain {
			at--
		}
		if list = slices.Insert(list, at, s); len(list) > likely {
			list = list[:likely]
		}
		byCost[u.cost] = list
	}
	var out []int32
	for _, list := range byCost {
		for _, s := range list {
			out = append(out, s.unit)
		}
	}
	return out
}

// cut fills the room with the beginning of a unit: next to the chosen units, next to all but one of them, alone, or
// next to one other unit.
func (b *exchanger) cut() ([]Segment, bool) {
	if segs, ok := b.begin(); ok {
		return segs, true
	}
	taken := slices.Clone(b.p.taken)
	for i, in := range taken {
		if b.p.taken[i] = false; in {
			if segs, ok := b.begin(); ok {
				return segs, true
			}
		}
		b.p.taken[i] = in
	}
	clear(b.p.taken)
	if segs, ok := b.begin(); ok {
		return segs, true
	}
	for _, i := range b.important() {
		if b.p.taken[i] = true; int(b.p.units.at(i).cost) < b.maxTokens {
			if segs, ok := b.begin(); ok {
				return segs, true
			}
		}
		b.p.taken[i] = false
	}
	copy(b.p.taken, taken)
	return nil, false
}

// important returns some units that are not chosen, those with the highest priority first.
func (b *exchanger) important() []int32 {
	var order []int32
	for i := range b.p.units.n {
		if u := b.p.units.at(int32(i)); !b.p.taken[i] && u.class != file {
			order = append(order, int32(i))
		}
	}
	slices.SortStableFunc(order, func(i, j int32) int { return cmp.Compare(b.p.units.at(j).prior, b.p.units.at(i).prior) })
	return order[:min(len(order), verified)]
}

// begin tries the beginnings of units, the longest first.
func (b *exchanger) begin() ([]Segment, bool) {
	for _, i := range b.important() {
		text := b.p.text(i)
		b.p.taken[i] = true
		for _, end := range slices.Backward(breaks(cut(text, anchors.LongUnit))) {
			b.p.begun[i] = strings.TrimRight(text[:end], " ,;:") + sign
			if segs, ok := b.write(); ok {
				return segs, true
			}
		}
		b.p.taken[i] = false
		delete(b.p.begun, i)
	}
	return nil, false
}

// breaks returns the offsets where a text may end: between words, in Han and Kana between characters, except the first.
func breaks(s string) []int {
	var out []int
	for i, r := range s {
		if i > 0 && (r == ' ' || anchors.ScriptOf(r) == anchors.Han) {
			out = append(out, i)
		}
	}
	return out[min(1, len(out)):]
}

// setLength asks for as many letters as the tokens of the room have in the units of the session; the larger the room,
// the more it may be off.
func (b *exchanger) setLength(room int) {
	n, cost := 0, 0
	for i := range b.p.units.n {
		n, cost = n+b.length(int32(i)), cost+int(b.p.units.at(int32(i)).cost)
	}
	if cost == 0 {
		return
	}
	off := min(max(2, room/16), widest)
	b.minLetters, b.maxLetters = n*room/cost*(100-shorter-off)/100, n*room/cost*(100-shorter+off)/100
}

// improve exchanges units until they are what is wanted, at last those of the user, too. If no exchange does
// that, what comes nearest to it is better than what there was: two budgets that differ little are then filled
// alike.
func (b *exchanger) improve(segs []Segment, full bool) ([]Segment, bool) {
	var best []Segment
	off := anyLength
	if full {
		best, off = segs, b.distance(b.letters)
	}
	before := slices.Clone(b.p.taken)
	for _, b.all = range []bool{false, true} {
		copy(b.p.taken, before)
		if b.search(segs, func(segs []Segment, good, _ bool) {
			if n := b.distance(b.letters); b.full && (good || n < off) {
				best, off = segs, n
			}
		}) {
			break
		}
	}
	b.all = false
	return best, best != nil
}
