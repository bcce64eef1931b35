package compress

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/compress/anchors"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
)

// Level and Counter are those of the packages that define them.
type (
	Level   = keepit.Level
	Counter = tokens.Counter
)

// Extract is the engine without a model: see the package comment. Its zero value is ready.
type Extract struct{}

// ID names the engine and its version.
func (Extract) ID() string { return "extract/5" }

// IsExtract reports whether an ID is that of an engine without a model, of this version or another.
func IsExtract(id string) bool { return strings.HasPrefix(id, "extract/") }

// share is a part of the budget that only some classes of units may use. What is left over is free for all.
type share struct {
	percent int
	of      classSet
}

// mix is how a level weighs things.
type mix struct {
	prior  [classes]int64 // per cent, by class
	shares []share
	weights
}

// mixFor returns the mix of a level. The numbers of aggressive were found by measuring what versions of real sessions
// keep (anchors, words of the user, files and words of commits, failures that were fixed); the milder levels give
// more room to what was said and done in between.
func mixFor(l Level) mix {
	m := mix{
		prior: [...]int64{userClass: 200, closing: 170, prose: 100, failure: 160, file: 200, symbols: 130, command: 50,
			call: 30, output: 30, change: 30},
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

// close changes the mix of the aggressive level for where a good part of the items fits (see [near]): what was said is
// soon covered, and then the lines that changed say more than saying it again, and last what tools returned. Of
// the much that these hold, what comes up again in other messages is what matters. The numbers were found as
// those of the level.
func (m *mix) close() {
	m.weights = weights{stem: 5, anchor: 350, pair: 60, name: 150, once: 30, exponent: 100}
	m.prior[command], m.prior[call], m.prior[change], m.prior[output] = 90, 90, 100, 6
	for i, s := range m.shares {
		m.shares[i].percent = min(s.percent, 4)
		if s.of == setOf(userClass) {
			m.shares[i].percent = 38
		}
	}
}

// near says whether a good part of what was said and done fits into room plain tokens, a sixth of it or more, and
// the level would rather name things than tell about them.
func near(items []Item, room int, l Level) bool {
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

// Summarize picks units of the items until the budget is full.
func (e Extract) Summarize(ctx context.Context, req Request) (Summary, error) {
	return newExtractor(sizer{}, (*Aside)(nil).Text, &Aside{}).Summarize(ctx, req)
}

// An extractor is Extract for one run: it remembers how it took the items apart, which a new budget does not change.
type extractor struct {
	Extract
	sizes sizer
	text  func(*Item) string
	aside *Aside
	known map[cutting]apart
}

// A cutting names a list of items and says whether a good part of them fits.
type cutting struct {
	first *Item
	n     int
	near  bool
}

func newExtractor(z sizer, text func(*Item) string, aside *Aside) *extractor {
	return &extractor{sizes: z, text: text, aside: aside, known: map[cutting]apart{}}
}

// cut returns the units of the items. There is at least one item.
func (e *extractor) cut(items []Item, near bool) apart {
	key := cutting{&items[0], len(items), near}
	a, ok := e.known[key]
	if !ok {
		a = split(items, e.text, near, e.aside)
		a.measure(near, e.aside)
		e.known[key] = a
	}
	return a
}

// Summarize is that of Extract.
func (e *extractor) Summarize(ctx context.Context, req Request) (Summary, error) {
	room := req.Count.Unscale(req.Budget)
	if room <= 0 || len(req.Items) == 0 {
		return Summary{}, ctx.Err()
	}
	m, close := mixFor(req.Level), near(req.Items, room, req.Level)
	if close {
		m.close()
	}
	a := e.cut(req.Items, close)
	for i := range a.units.n {
		u := a.units.at(int32(i))
		it := &req.Items[u.item]
		u.prior = int32(m.priority(u) * int64(100+it.Weight) / 100)
		if u.class == closing && !close {
			u.prior = int32(int64(u.prior) * (100 + recency(int64(u.item), int64(len(req.Items)-1))) / 100)
		}
		switch {
		case (it.Kind == User || it.Kind == Script) && it.length() > pasted:
			u.prior /= 2
		case close && u.class >= output && u.tells&tellsLittle != 0:
			u.prior = 0 // only where nothing else is left
		}
	}
	if err := ctx.Err(); err != nil {
		return Summary{}, err
	}
	p := newPool(a, m.weights)
	p.names = room / mostNames
	left := room
	for _, s := range m.shares {
		left -= p.fill(min(left, room*s.percent/100), 1, s.of)
	}
	p.fill(left, 1, anyUnit)
	segs := e.fit(p, req, room)
	return Summary{e.brim(p, req, room, segs)}, nil
}

// recency is by how many per cent what is said at i of n counts more: the later of the assistant's own
// conclusions are about what became of the work, the earlier ones about what was found on the way.
func recency(i, n int64) int64 {
	const most = 20
	return (2*i*most - n*most) / max(1, n)
}

// priority is the prior of a unit. An error that names nothing says little; the name of a test that failed says much.
func (m mix) priority(u *unit) int64 {
	prior := m.prior[u.class]
	if u.class != failure {
		return prior
	}
	switch {
	case u.tells&tellsPackage != 0:
		return prior / 20
	case u.tells&tellsAnchor == 0:
		return prior / 2
	case u.tells&tellsFailed != 0:
		return prior * 3
	}
	return prior
}

// pasted is the length from which on a message of the user was hardly typed: a log or a page that was pasted must not
// crowd out the requests around it.
const pasted = 4000

// bare says that a line of a file or of output tells nothing alone: it has fewer than two words, such as "return".
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

// tooMany returns how many plain tokens of lists are too many in segments.
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

// fewerNames renders what was taken with so few names that lists are not too much of it.
func (e *extractor) fewerNames(p *pool, items []Item) []Segment {
	segs := render(p, items)
	for k := len(p.order) - 1; k >= 0; k-- {
		if i := p.order[k]; p.taken[i] && listed.has(p.units.at(i).class) {
			if e.tooMany(segs) == 0 {
				break
			}
			p.drop(int(i))
			segs = render(p, items)
		}
	}
	p.names = min(p.names, p.listed)
	return segs
}

// mostNames is which part of a version names may be at most.
const mostNames = 5

const anyUnit = ^classSet(0)

// fit renders what was taken, uses up what rounding left over, and makes sure that it is not too long.
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
			least = 0 // better a line that says nothing new than none
		}
		if p.fill(room-used, least, anyUnit) == 0 {
			return segs
		}
	}
	return e.shorten(p, req, room)
}

// shorten renders what was taken without the last units that are too many. It drops as many at once as their
// costs say: a text of which each unit is a little longer than it was taken for is not written out once for
// each.
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
