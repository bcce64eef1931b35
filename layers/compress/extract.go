package compress

import (
	"context"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
)

// Level and Counter are those of the packages that define them.
type (
	Level   = keepit.Level
	Counter = tokens.Counter
)

// Extract is the engine without a model: see the package comment. Its zero value is the newest, and ready. The older ones
// made versions that must come out again byte for byte.
type Extract struct{ age int } // how many engines are newer

const newest = 4

// First is the first engine. It stands in for models.
func First() Extract { return Extract{newest - 1} }

func (e Extract) version() int { return newest - e.age }

// ID names the engine and its version.
func (e Extract) ID() string { return "extract/" + strconv.Itoa(e.version()) }

// ExtractByID returns the engine without a model that has an ID.
func ExtractByID(id string) (Extract, bool) {
	for age := range newest {
		if e := (Extract{age}); e.ID() == id {
			return e, true
		}
	}
	return Extract{}, false
}

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
func mixFor(l Level, first bool) mix {
	m := mix{
		prior:   [...]int64{userClass: 200, closing: 170, prose: 100, failure: 130, file: 200, symbols: 130, command: 70, call: 60, output: 30, change: 30},
		weights: weights{stem: 60, anchor: 350, pair: 60, exponent: 85},
		shares: []share{
			{38, setOf(userClass)},
			{12, setOf(failure)},
			{14, setOf(file)},
			{20, setOf(closing)},
		},
	}
	if !first {
		m.shares[3].percent = 18
		m.shares = append(m.shares, share{3, setOf(command)})
	}
	switch l {
	case keepit.Moderate:
		m.prior[prose], m.prior[command] = 115, 80
		m.shares = []share{{35, setOf(userClass)}, {10, setOf(failure)}, {10, setOf(file)}, {20, setOf(closing)}, {4, setOf(command)}}
	case keepit.Minimal:
		m.prior[prose], m.prior[command], m.prior[call] = 140, 100, 80
		m.shares = []share{{30, setOf(userClass)}, {8, setOf(failure)}, {6, setOf(file)}, {15, setOf(closing)}, {6, setOf(command)}, {20, setOf(prose)}}
	}
	return m
}

// close changes the mix of the aggressive level for where a good part of the items fits (see [near]): what was said is
// soon covered, and then the lines that changed say more than saying it again, and last what tools returned. Of the much that
// these hold, what comes up again in other messages is what matters. The numbers were found as those of the level.
func (m *mix) close() {
	m.weights = weights{stem: 5, anchor: 350, pair: 60, name: 150, once: 30, exponent: 100}
	m.prior[command], m.prior[call], m.prior[change], m.prior[output] = 90, 90, 100, 6
	for i, s := range m.shares {
		if s.of != setOf(userClass) {
			m.shares[i].percent = min(s.percent, 4)
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
	return newExtractor(e, sizer{}, (*Aside)(nil).Text, &Aside{}).Summarize(ctx, req)
}

// An extractor is Extract for one run: it remembers how it took the items apart, which a new budget does not change.
type extractor struct {
	Extract
	sizes sizer
	text  func(*Item) string
	aside *Aside
	known map[cutting]apart
}

// A cutting names a list of items, how terse their texts are and whether a good part of them fits.
type cutting struct {
	first *Item
	n     int
	terse terse
	near  bool
}

func newExtractor(e Extract, z sizer, text func(*Item) string, aside *Aside) *extractor {
	return &extractor{Extract: e, sizes: z, text: text, aside: aside, known: map[cutting]apart{}}
}

// cut returns the units of the items. There is at least one item.
func (e *extractor) cut(items []Item, t terse, near bool) apart {
	key := cutting{&items[0], len(items), t, near}
	a, ok := e.known[key]
	if !ok {
		a = split(items, e.text, cutter{t, e.version() == 1, near}, e.aside)
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
	m, close := mixFor(req.Level, e.version() == 1), e.version() > 1 && near(req.Items, room, req.Level)
	if close {
		m.close()
	}
	a := e.cut(req.Items, density(req, room), close)
	for i := range a.units.n {
		u := a.units.at(int32(i))
		it := &req.Items[u.item]
		u.prior = int32(m.priority(u) * int64(100+it.Weight) / 100)
		switch {
		case it.Kind == User && it.length() > pasted:
			u.prior /= 2
		case close && u.class >= output && u.tells&tellsLittle != 0:
			u.prior = 0 // only where nothing else is left
		}
	}
	if err := ctx.Err(); err != nil {
		return Summary{}, err
	}
	p := newPool(a, m.weights)
	left := room
	for _, s := range m.shares {
		left -= p.fill(min(left, room*s.percent/100), 1, s.of)
	}
	p.fill(left, 1, anyUnit)
	segs := e.fit(p, req, room)
	if e.version() > 2 {
		segs = e.brim(p, req, room, segs)
	}
	return Summary{segs}, nil
}

// priority is the prior of a unit. An error that names nothing says little; the name of a test that failed says much.
func (m mix) priority(u *unit) int64 {
	prior := m.prior[u.class]
	if u.class != failure {
		return prior
	}
	switch {
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
		case isUpper(c) || isLower(c):
			if run++; run == 3 {
				words++
			}
		default:
			run = 0
		}
	}
	return words < 2
}

const anyUnit = ^classSet(0)

// fit renders what was taken, uses up what rounding left over, and makes sure that it is not too long.
func (e *extractor) fit(p *pool, req Request, room int) []Segment {
	var segs []Segment
	for range 4 {
		segs = render(p, req.Items)
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

// shorten renders what was taken without the last units that are too many. It drops as many at once as their costs say: a
// text of which each unit is a little longer than it was taken for is not written out once for each. The first
// engine did that.
func (e *extractor) shorten(p *pool, req Request, room int) []Segment {
	segs := render(p, req.Items)
	for i := p.units.n - 1; i >= 0; {
		excess := e.sizes.size(segs) - room
		if excess <= 0 {
			break
		}
		if e.version() == 1 {
			excess = 1
		}
		dropped := false
		for ; i >= 0 && excess > 0; i-- {
			if p.taken[i] {
				p.taken[i], dropped = false, true
				excess -= int(p.units.at(int32(i)).cost)
			}
		}
		if dropped {
			segs = render(p, req.Items)
		}
	}
	return segs
}

// wordy is how many tokens of L1 there must be for one that fits before words are left out: L1 is about a tenth of what
// a model read, so that is at about 20:1.
const wordy = 2

// density says how terse the text must be: by how much there is for what fits. The mildest level never drops a word.
func density(req Request, room int) terse {
	n := int64(0)
	for i := range req.Items {
		n += int64(req.Items[i].length())
	}
	if req.Level == keepit.Minimal || n < 4*wordy*int64(room) {
		return whole
	}
	return curt
}

// render writes the units that were taken as segments: neighbours of one message together, files on one line.
func render(p *pool, items []Item) []Segment {
	var segs []Segment
	var files []int32
	var text strings.Builder // of the last segment
	lastItem, lastLine := int32(-1), int32(-1)
	end := func() {
		if len(segs) > 0 {
			segs[len(segs)-1].Text = text.String()
		}
		text.Reset()
	}
	texts := p.texts.browse()
	for i := range p.units.n {
		if !p.taken[i] {
			continue
		}
		u := p.units.at(int32(i))
		if u.class == file {
			files = append(files, int32(i))
			continue
		}
		it := items[u.item]
		if u.item == lastItem {
			sep := byte('\n')
			if u.line == lastLine {
				sep = ' '
			}
			text.WriteByte(sep)
		} else {
			end()
			segs = append(segs, Segment{Role: role(u.class), Src: it.sources()})
		}
		if begun, ok := p.begun[int32(i)]; ok {
			text.WriteString(begun)
		} else {
			text.WriteString(texts.text(i))
		}
		lastItem, lastLine = u.item, u.line
	}
	end()
	if len(files) > 0 {
		segs = append(segs, fileList(p, items, files))
	}
	return segs
}

func role(c class) string {
	switch c {
	case userClass:
		return "user"
	case closing, prose:
		return "assistant"
	}
	return "tool"
}

// changed is what the list of changed files begins with.
const changed = "Changed: "

// fileList is the one segment that names the files that were changed.
func fileList(p *pool, items []Item, files []int32) Segment {
	s := Segment{Role: "tool"}
	var names []string
	for _, i := range files {
		names = append(names, p.text(i))
		s.Src = append(s.Src, items[p.units.at(i).item].sources()...)
	}
	sort.SliceStable(s.Src, func(a, b int) bool { return s.Src[a][0] < s.Src[b][0] })
	s.Text = changed + strings.Join(names, ", ")
	s.Src = merge(s.Src)
	return s
}

// merge joins runs of messages that touch or overlap. They are in the order of their first messages.
func merge(src [][2]int) [][2]int {
	var out [][2]int
	for _, r := range src {
		if n := len(out); n > 0 && r[0] <= out[n-1][1]+1 {
			out[n-1][1] = max(out[n-1][1], r[1])
			continue
		}
		out = append(out, r)
	}
	return out
}
