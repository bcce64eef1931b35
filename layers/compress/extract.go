package compress

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/compress/anchors"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
)

// Level and Counter are the types of packages keepit and tokens.
type (
	Level   = keepit.Level
	Counter = tokens.Counter
)

// Extract is the engine without a model: see the package comment. Its zero value is ready.
type Extract struct{}

// ID names the engine and its version.
func (Extract) ID() string { return "extract/5" }

// IsExtract reports whether an ID is that of the engine without a model, of any version.
func IsExtract(id string) bool { return strings.HasPrefix(id, "extract/") }

// A share is a part of the budget that only some classes of units may use. The rest of it is available to all.
type share struct {
	percent int
	of      classSet
}

// A mix has the weights and the shares of a level.
type mix struct {
	prior  [classes]int64 // per cent, by class
	shares []share
	weights
}

// mixFor returns the mix of a level. The numbers of the aggressive level maximise what versions of real sessions keep
// (anchors, text of the user, files and words of commits, fixed failures). The milder levels give more room to prose
// and commands.
func mixFor(l Level) mix {
	m := mix{
		prior: [...]int64{userClass: 200, closing: 170, prose: 100, failure: 160, file: 200, symbols: 130, command: 50,
			call: 30, output: 30, change: 30, pasted: 110},
		weights: weights{stem: 60, anchor: 350, pair: 60, exponent: 92},
		shares: []share{
			{18, setOf(file)},
			{50, setOf(userClass)},
			{14, setOf(failure)},
			{14, setOf(closing)},
			{3, setOf(command)},
		},
	}
	switch l {
	case keepit.Moderate:
		m.prior[prose], m.prior[command] = 115, 80
		m.shares = []share{{35, setOf(userClass)}, {10, setOf(failure)}, {10, setOf(file)}, {20, setOf(closing)},
			{4, setOf(command)}}
	case keepit.Minimal:
		m.prior[prose], m.prior[command], m.prior[call] = 140, 100, 80
		m.shares = []share{{30, setOf(userClass)}, {8, setOf(failure)}, {6, setOf(file)}, {15, setOf(closing)},
			{6, setOf(command)}, {20, setOf(prose)}}
	}
	return m
}

// relax changes the mix of the aggressive level for a budget that is large for the items (see [isRoomy]). The prose is
// soon covered; then changed lines add more than repetition, and last the output of tools, of which the concepts that
// occur in other messages matter. The numbers were found in the same way.
func (m *mix) relax() {
	m.weights = weights{stem: 5, anchor: 350, pair: 60, name: 150, once: 30, exponent: 100}
	m.prior[command], m.prior[call], m.prior[change], m.prior[output] = 90, 90, 100, 6
	for i, s := range m.shares {
		m.shares[i].percent = min(s.percent, 4)
		if s.of == setOf(userClass) {
			m.shares[i].percent = 38
		}
	}
}

// isRoomy reports whether the level is aggressive and a sixth or more of the items, without tool output and changed
// lines, fits into room plain tokens.
func isRoomy(items []Item, room int, l Level) bool {
	if l != keepit.Aggressive {
		return false
	}
	n := int64(0)
	for i := range items {
		if it := &items[i]; it.Kind != Output && it.Kind != Diff {
			n += int64(it.length())
		}
	}
	return n < 4*6*int64(room)
}

// Summarize chooses units of the items until the budget is full.
func (e Extract) Summarize(ctx context.Context, req Request) (Summary, error) {
	return newExtractor(sizer{}, (*Spill)(nil).Text, &Spill{}).Summarize(ctx, req)
}

// An extractor is Extract with a cache of the units of items, which do not depend on the budget.
type extractor struct {
	Extract
	sizes  sizer
	text   func(*Item) string
	spill  *Spill
	cached map[unitKey]unitSet
}

// A unitKey names a list of items and says whether a good part of them fits.
type unitKey struct {
	first *Item
	n     int
	roomy bool
}

func newExtractor(z sizer, text func(*Item) string, spill *Spill) *extractor {
	return &extractor{sizes: z, text: text, spill: spill, cached: map[unitKey]unitSet{}}
}

// unitsOf returns the units of the items. There is at least one item.
func (e *extractor) unitsOf(items []Item, roomy bool) unitSet {
	key := unitKey{&items[0], len(items), roomy}
	a, ok := e.cached[key]
	if !ok {
		a = split(items, e.text, e.spill)
		a.measure(roomy, e.spill)
		e.cached[key] = a
	}
	return a
}

// Summarize is [Extract.Summarize].
func (e *extractor) Summarize(ctx context.Context, req Request) (Summary, error) {
	room := req.Count.Unscale(req.Budget)
	if room <= 0 || len(req.Items) == 0 {
		return Summary{}, ctx.Err()
	}
	m, roomy := mixFor(req.Level), isRoomy(req.Items, room, req.Level)
	if roomy {
		m.relax()
	}
	a := e.unitsOf(req.Items, roomy)
	for i := range a.units.n {
		u := a.units.at(int32(i))
		it := &req.Items[u.item]
		u.prior = int32(m.priority(u) * int64(100+it.Weight) / 100)
		if u.class == closing && !roomy {
			u.prior = int32(int64(u.prior) * (100 + recency(int64(u.item), int64(len(req.Items)-1))) / 100)
		}
		switch {
		case u.traits&traitPage != 0:
			u.prior /= 2
		case roomy && u.class >= output && u.traits&traitBare != 0:
			u.prior = 0 // chosen only if nothing else remains
		}
	}
	if err := ctx.Err(); err != nil {
		return Summary{}, err
	}
	p := newPool(a, m.weights)
	p.names = room / mostNames
	left := room
	for _, s := range m.shares {
		used := p.fill(min(left, room*s.percent/100), 1, s.of)
		if left -= used; s.of == setOf(userClass) && !p.wants(userClass) { // pasted text gets what requests leave
			left -= p.fill(min(left, room*s.percent/100-used), 1, setOf(pasted))
		}
	}
	p.fill(left, 1, anyUnit)
	segs := e.fit(p, req, room)
	return Summary{e.fillSmall(p, req, room, segs)}, nil
}

// recency returns by how many per cent the priority of item i of n is raised: later conclusions of the assistant are
// about the result of the work, earlier ones about intermediate findings.
func recency(i, n int64) int64 {
	const most = 20
	return (2*i*most - n*most) / max(1, n)
}

// priority returns the prior of a unit. It is low for an error without names and high for the name of a failed test.
func (m mix) priority(u *unit) int64 {
	prior := m.prior[u.class]
	if u.class != failure {
		return prior
	}
	switch {
	case u.traits&traitTestPackage != 0:
		return prior / 20
	case u.traits&traitAnchor == 0:
		return prior / 2
	case u.traits&traitTestName != 0:
		return prior * 3
	}
	return prior
}

// bare reports whether a line of a file or of output says nothing alone: it has fewer than two words, such as "return".
func bare(s string) bool {
	words, run := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			return false
		case anchors.IsUpper(c) || anchors.IsLower(c):
			if run++; run == 3 {
				words++
			}
		default:
			run = 0
		}
	}
	return words < 2
}

// tooMany returns by how many plain tokens the lists in segments exceed their part.
func (e *extractor) tooMany(segs []Segment) int {
	names := 0
	for _, s := range segs {
		if _, _, ok := listOf(s.Text); ok {
			names += e.sizes.size([]Segment{s})
		}
	}
	if names == 0 {
		return 0
	}
	return max(0, names-e.sizes.size(segs)/mostNames)
}

// fewerNames renders the chosen units. It drops names until the lists do not exceed their part.
func (e *extractor) fewerNames(p *pool, items []Item) []Segment {
	segs := render(p, items)
	for k := len(p.order) - 1; k >= 0; {
		excess, dropped := e.tooMany(segs), 0
		if excess == 0 {
			break
		}
		for ; k >= 0 && dropped <= excess/3; k-- { // more could be too many: costs are not exact
			if i := p.order[k]; p.taken[i] && listed.has(p.units.at(i).class) {
				p.drop(int(i))
				dropped += int(p.units.at(i).cost)
			}
		}
		segs = render(p, items)
	}
	p.names = min(p.names, p.listed)
	return segs
}

// mostNames is the limit of lists of names: one fifth of a version.
const mostNames = 5

const anyUnit = ^classSet(0)

// fit renders the chosen units, fills the rest that rounding leaves, and ensures that the result is not too long.
func (e *extractor) fit(p *pool, req Request, room int) []Segment {
	var segs []Segment
	for range 4 {
		segs = e.fewerNames(p, req.Items)
		used := e.sizes.size(segs)
		if used > room {
			break
		}
		least := int64(1)
		if used < room*9/10 {
			least = 0 // a line without new concepts is better than none
		}
		if p.fill(room-used, least, anyUnit) == 0 {
			return segs
		}
	}
	return e.shorten(p, req, room)
}

// shorten renders the chosen units without the last ones that exceed the room. It drops several units at once according
// to their costs, to render the text only a few times.
func (e *extractor) shorten(p *pool, req Request, room int) []Segment {
	segs := e.fewerNames(p, req.Items)
	for k := len(p.order) - 1; k >= 0; {
		excess := e.sizes.size(segs) - room
		if excess <= 0 {
			break
		}
		dropped := false
		for ; k >= 0 && excess > 0; k-- {
			if i := p.order[k]; p.taken[i] {
				p.drop(int(i))
				dropped = true
				excess -= int(p.units.at(i).cost)
			}
		}
		if dropped {
			segs = e.fewerNames(p, req.Items)
		}
	}
	return segs
}
