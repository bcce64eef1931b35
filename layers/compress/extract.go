package compress

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/version"
)

// Extract is the engine without a model: see the package comment. Its zero value is ready.
type Extract struct{}

// ID names the engine and its version.
func (Extract) ID() string { return planning.Extract }

// Summarize returns the beginning of the order of everything that fits into the budget.
func (Extract) Summarize(ctx context.Context, req version.Request) (version.Summary, error) {
	room := req.Count.Unscale(req.Budget)
	if room <= 0 || len(req.Items) == 0 {
		return version.Summary{}, ctx.Err()
	}
	return newOrder(req.Items, req.Level).fit(version.Sizer{}, room), ctx.Err()
}

// An order is everything that items say, the most valuable first. A step is what is taken at once: units with their parents.
type order struct {
	items []version.Item
	units []unit
	said  [][]int // the lines of the exchanges, then the rest of what was said, and lists
	code  [][]int // changes, and long blocks of code
	share int     // what was said may have this part of its size as code, one in share; 0: no limit
	taken []bool
	told  map[int]map[string]bool // the names that the assistant said in each exchange

	continued bool // the first exchange began before the first item
}

// worth is the value of a token of each class.
var worth = [classes]float64{typed: 3, pasted: .3, asked: 1.6, closing: 1.5, prose: 1, plan: .2, summary: .5, report: .1, file: .8,
	command: .6, failed: 1, note: .8, change: 1}

var (
	// cue matches reasons, decisions, problems and findings.
	cue = pattern(`(?i)\b(because|instead|root cause|caused? by|the (real |actual )?(issue|problem|bug|reason|cause) (is|was|with)|turns out|found|fix(ed|es)?|can'?t|cannot|fails?|failed|failing|decid|decision|should|must|never|always|only|better|reason|so that|however|but|wrong|actually|recommend|option|prefer|trade-?offs?|risk|missing|not |\w+n't|whether|pending|remaining|todo|next step|still|until|unless|rather than)`)
	// names matches what is called by its name: files, symbols, numbers.
	names = pattern("`[^`]+`|\\w+[./_#]\\w+|\\b\\d+\\b|\\*\\*[^*]+\\*\\*")
	// named matches what is called by its name, without numbers.
	named = pattern("`[^`]+`|\\w[./_#]\\w|\\*\\*[^*]")
	// praise matches the heading of a part that praises the work.
	praise = pattern(`(?i)^\W*(key |main )?(strengths|benefits|advantages|positives|highlights|what('s| is) (good|great|done well)|why this (works|is better))\b`)
	// reason matches what gives a reason, verdict the beginning of an answer.
	reason  = pattern(`(?i)\b(because|turns out|root cause|caused by)\b`)
	verdict = pattern(`(?i)^\W{0,3}(yes|no|nope|correct|exactly|right)\b`)
)

// isRemark reports whether a paragraph on the way is a short remark without a name, a reason or a verdict: nobody understands
// it without what it is about.
func isRemark(text string) bool {
	return len(text) <= 40 && !names().MatchString(text) && !cue().MatchString(text) && !verdict().MatchString(text) && !asks(text)
}

// newOrder puts everything that items say into the order in which it is taken.
func newOrder(items []version.Item, level keepit.Level) *order {
	items = gather(items)
	o := &order{items: items, units: split(items), share: 2, told: map[int]map[string]bool{}}
	for _, it := range items {
		if it.Kind == version.Assistant {
			o.told[it.X] = exchange.Names(o.told[it.X], it.Text)
		}
	}
	switch level {
	case keepit.Minimal:
		o.share = 0 // as much as there is room
	case keepit.Aggressive:
		o.share = codeShare // code is in the repository
		o.quiet()
	}
	o.taken = make([]bool, len(o.units))
	byWorth := make([]int, 0, len(o.units))
	for i := range o.units {
		u := &o.units[i]
		block := transcript.IsFence(u.text) && len(u.text) > longCode && u.class != typed && u.class != pasted
		if level == keepit.Aggressive && (u.class == plan || block) || u.class == report {
			u.flags |= late // what was done says it again
		}
		u.score = o.score(u)
		if last := i+1 == len(o.units) || o.units[i+1].item != u.item; last && u.class == closing && len(u.text) >= 100 && !isItem(u.text) && exchange.Asks(u.text) {
			u.parent, u.score = none, 2*u.score // a choice that the user is given is understood alone
		}
		if u.parent >= 0 && u.flags&late == 0 { // what it waits for comes before it
			u.score = min(u.score, o.units[u.parent].score)
		}
		left := level == keepit.Aggressive && (u.flags&idle != 0 || u.class == report || u.class == change || u.class == plan && transcript.IsFence(u.text) || u.class == pasted && u.flags&late != 0)
		if !left && u.flags&lead == 0 && unnamed(u.text) == 0 {
			byWorth = append(byWorth, i)
		}
	}
	lines, rests, more := o.lines()
	for _, line := range lines {
		if step := o.take(false, line...); len(step) > 0 {
			o.said = append(o.said, step)
		}
	}
	for _, line := range slices.Concat(rests, o.answered(lines), more) {
		if step := o.take(true, line...); len(step) > 0 {
			o.said = append(o.said, step)
		}
	}
	slices.SortStableFunc(byWorth, func(a, b int) int { return cmp.Compare(o.units[b].score, o.units[a].score) })
	for _, i := range byWorth {
		step := o.take(true, i)
		switch {
		case len(step) == 0:
		case o.units[i].flags&late != 0:
			o.code = append(o.code, step)
		default:
			o.said = append(o.said, step)
		}
	}
	return o
}

// quiet takes what the assistant said on the way for an announcement, if a later text replaces it, or if it is short and
// names nothing, or shorter and states no cause, and does not begin like an answer: nobody understands it without what it is about.
func (o *order) quiet() {
	for from, to := 0, 0; from < len(o.units); from = to {
		var text strings.Builder
		for to = from; to < len(o.units) && o.units[to].item == o.units[from].item; to++ {
			if o.units[from].class == prose && o.units[to].flags&idle == 0 {
				text.WriteString(o.units[to].text + "\n")
			}
		}
		if o.units[from].class != prose {
			continue
		}
		const few = 100 // bytes
		told := text.String()
		nameless := len(told) <= shortNote && !named().MatchString(told) && !reason().MatchString(told)
		if verdict().MatchString(told) ||
			!o.items[o.units[from].item].Replaced && !nameless && !exchange.Reacts(told) && (len(told) > few || exchange.Supposes(told)) {
			continue
		}
		for i := from; i < to; i++ {
			o.units[i].flags |= idle
		}
	}
}

// score is the value of a unit for each token.
func (o *order) score(u *unit) float64 {
	it := &o.items[u.item]
	v := worth[u.class] * float64(100+it.Weight) / 100 * (1 + .25*float64(u.item)/float64(len(o.items))) // later ones first
	switch u.class {
	case closing, prose, plan, summary, report:
		v /= 1 + float64(u.from)/2000
		switch {
		case cue().MatchString(u.text):
			v *= 1.5
		case u.parent >= 0 && o.units[u.parent].flags&lead != 0 && cue().MatchString(o.units[u.parent].text):
			v *= 1.3
		}
		switch {
		case transcript.IsFence(u.text):
			v *= .85
		case u.parent >= 0 && praise().MatchString(o.units[u.parent].text):
			v *= .4
		}
		v *= .7 + min(1, 4*float64(len(names().FindAllString(u.text, 9)))/float64(10+u.cost))
	case typed:
		if u.label != "" || u.from > longTyped && len(it.Text) > u.from+longTyped/2 { // not what is left of it
			v *= .2
		}
	case pasted:
		if u.flags&telling != 0 {
			v *= 4
		}
	case command:
		if it.Closing {
			v *= 1.2 // before the other commands
		}
	case change:
		v *= exchange.Tells(u.text, o.told[it.X])
	case failed:
		if it.Fixed > 0 {
			v *= .5
		}
	}
	switch {
	case u.flags&lead != 0:
		return math.Inf(1) // it comes with what follows it
	case u.flags&idle != 0:
		return v / 50
	case u.flags&late != 0:
		return v / (400 + float64(u.cost)) // one large block does not take the room of all others
	}
	return v
}

// codeShare is the share of code at the aggressive level.
const codeShare = 12

// longTyped is the size in bytes from which on what the user typed at once tells details, or was pasted.
const longTyped = 600

// take takes units with their parents, and returns those that were not taken before. far: also with those that are not near.
func (o *order) take(far bool, units ...int) (step []int) {
	for _, i := range units {
		if !o.taken[i] {
			o.taken[i] = true
			if p := o.units[i].parent; p >= 0 && (far || o.near(p, i)) {
				step = append(step, o.take(far, p)...)
			}
			step = append(step, i)
		}
	}
	return step
}

// near reports whether the parent of a unit is in its text, or is short with what it waits for.
func (o *order) near(parent, i int) bool {
	size := 0
	for k := parent; k >= 0 && size <= longTyped/2; k = o.units[k].parent {
		size += len(o.units[k].text)
	}
	return o.units[parent].item == o.units[i].item || size <= longTyped/2
}

// answered returns what the replies in lines answer.
func (o *order) answered(lines [][]int) (out [][]int) {
	for _, i := range slices.Concat(lines...) {
		if p := o.units[i].parent; p >= 0 && !o.near(p, i) {
			out = append(out, []int{p})
		}
		for _, k := range o.units[i].also {
			out = append(out, []int{k})
		}
	}
	return out
}

// lines returns the units of the lines that every exchange gets first, one for each time that the user speaks: the beginning
// of what he said, and of what came of it. The last exchange comes first, then the first, then later ones before earlier ones.
// rests and more go on from them.
func (o *order) lines() (lines, rests, more [][]int) {
	var turns [][]int
	var ends []int // how the session left the work
	said := false  // the item before is of the user
	turn := turn{order: o}
	end := func() {
		line, rest := turn.line()
		turns, rests, more = append(turns, line), append(rests, slices.Concat(rest, turn.first)), append(more, turn.more())
		turn.begin()
	}
	for from, to := 0, 0; from < len(o.units); from = to {
		for to = from; to < len(o.units) && o.units[to].item == o.units[from].item; to++ {
		}
		it := &o.items[o.units[from].item]
		asks := it.Kind == version.User || it.Kind == version.Answer || it.Kind == version.Script || it.Kind == version.Recap && (it.Label == version.Task || it.Label == "copied")
		if asks && !said || from > 0 && it.X != o.items[o.units[from-1].item].X {
			end()
		}
		switch said = asks; {
		case asks:
			turn.request(from, to)
		case it.Kind == version.Assistant && strings.HasPrefix(it.Label, "plan"):
			turn.answer(from, to, false)
			turn.plan = turn.finding
		case it.Kind == version.Assistant && it.Label != "asked":
			turn.answer(from, to, it.Closing)
		case it.Label == version.NoAnswer:
			turn.outcome = []int{from}
		case it.Label == version.AtEnd:
			ends = append(ends, from)
		}
	}
	end()
	last := len(turns) - 1
	out := [][]int{turns[last]}
	if k := slices.IndexFunc(turns, func(t []int) bool { return len(t) > 0 }); k >= 0 {
		out = append(out, turns[k])
	}
	slices.Reverse(turns)
	slices.Reverse(rests)
	slices.Reverse(more)
	return append(out, turns...), append(rests, ends), more
}

// A turn is what the user says at once, and what follows up to the next time that he speaks.
type turn struct {
	*order
	asked, outcome []int
	meant          []int // short texts that the user pasted, of which he talks
	second         []int // what follows the beginning of the outcome
	first          []int // the first answer to a question
	finding        []int // the last thing that the assistant found before there was an outcome
	plan           []int // the beginning of what it proposed
	question       bool
}

func (t *turn) begin()      { *t = turn{order: t.order} }
func (t *turn) more() []int { return slices.Concat(t.plan, t.meant, t.second) }

// line returns what was asked and what came of it, or what was found, as far as it says something; and the rest of that.
func (t *turn) line() (line, rest []int) {
	const few, most = 25, 240 // bytes
	line, rest = t.asked, slices.Concat(t.outcome, t.finding)
	for size := 0; size < few && len(rest) > 0 && len(t.units[rest[0]].text) <= most; line, rest = append(line, rest[0]), rest[1:] {
		size += len(t.units[rest[0]].text)
	}
	return line, rest
}

// request takes the beginning of what the user typed, and of what he pasted if that is most of it.
func (t *turn) request(from, to int) {
	const few, enough = 15, 160 // bytes
	size, words := 0, 0
	for i := from; i < to; i++ {
		if t.units[i].class != pasted {
			words += len(t.units[i].text)
		}
	}
	for i := from; i < to && size < enough; i++ {
		u := &t.units[i]
		ledIn := u.parent >= from && t.units[u.parent].flags&lead != 0
		meant := u.flags&late == 0 && (ledIn && len(u.text) <= longTyped+300 || u.lines > 0 && len(u.text) <= longCode)
		switch {
		case u.class == pasted && words >= few && meant:
			t.meant = append(t.meant, i)
			continue
		case u.class == pasted && (u.flags&late != 0 || words >= few), size > 0 && size+len(u.text) > 2*enough && !(ledIn && len(u.text) <= longTyped):
			continue
		}
		t.question = t.question || strings.Contains(u.text, "?")
		t.asked = append(t.asked, i)
		size += len(u.text)
	}
}

// answer takes the beginning of the last words of a turn, or else the last sentence before that says something.
func (t *turn) answer(from, to int, closing bool) {
	const few, little, enough = 50, 80, 200 // bytes
	var line, second []int
	size, led := 0, from // led: the words that a paragraph of the line ends on, which lead in
	for i := from; i < to; i++ {
		u := &t.units[i]
		goesOn := i > from && u.parent == i-1 && t.units[i-1].flags&lead == 0
		if u.flags&lead != 0 && goesOn && size > 0 {
			led = i
		}
		if u.flags&(lead|late) != 0 || u.flags&idle != 0 && (size == 0 || size >= little || !goesOn) ||
			transcript.IsFence(u.text) && len(u.text) > longCode || u.flags&begins == 0 && u.list > 0 {
			continue
		}
		switch follows := goesOn && size+len(u.text) <= enough; {
		case u.flags&idle != 0, led > from && u.parent == led && size+len(u.text) <= enough+little:
			line = append(line, i)
		case size < few || size < little && follows:
			if b := &t.units[max(i-1, from)]; size == 0 && b.flags&idle != 0 && b.from+len(b.text)+1 == u.from && len(b.text) <= little {
				line = append(line, i-1) // the line begins with it
			}
			line = append(line, i)
		case size < little || follows:
			second = append(second, i)
		default:
			to = i
		}
		size += len(u.text)
	}
	switch {
	case len(line) == 0:
	case closing:
		t.outcome, t.second, t.finding = line, second, nil
	case t.question && t.first == nil && len(t.units[line[0]].text) <= enough/2:
		if t.first = line[:1]; len(line) > 1 && len(t.units[line[0]].text) < few && t.units[line[1]].flags&idle == 0 {
			t.first = line[:2] // "Yes!" is no answer
		}
	case size >= few:
		t.finding = line
	}
}

// fit returns the longest beginning of the order that fits into room, in plain tokens.
func (o *order) fit(z version.Sizer, room int) version.Summary {
	shown := make([]bool, len(o.units))
	size := func() int { return z.Size(o.digest(shown)) }
	set := func(steps [][]int, on bool) {
		for _, step := range steps {
			for _, i := range step {
				shown[i] = on
			}
		}
	}
	// most shows as many steps as there is room for, and returns their number.
	most := func(steps [][]int, room int) int {
		n := sort.Search(len(steps), func(n int) bool {
			set(steps, false)
			set(steps[:n+1], true)
			return size() > room
		})
		set(steps, false)
		set(steps[:n], true)
		for ; n > 0 && size() > room; n-- {
			set(steps[n-1:n], false)
		}
		return n
	}
	n := most(o.said, room)
	if n < len(o.said) {
		next := o.said[n]
		part := 0 // of it
		for k, i := range next {
			if shown[i] = true; size() > room {
				break
			} else if o.units[i].flags&lead == 0 && o.xOf(i) == o.xOf(next[len(next)-1]) {
				part = k + 1
			}
		}
		set([][]int{next[part:]}, false)
		if n == 0 && !slices.Contains(shown, true) {
			return version.Summary{Segments: o.oneLine(z, shown, room)}
		}
		return version.Summary{Segments: o.digest(shown)}
	}
	used := size()
	limit := room
	if o.share > 0 {
		limit = min(room, used+used/o.share)
		if o.share == codeShare {
			limit = min(room, max(limit, room*9/16)) // a plan comes back
		}
	}
	all := most(o.code, limit) == len(o.code)
	return version.Summary{Segments: o.digest(shown), Whole: all || limit < room}
}

// xOf returns the exchange of a unit.
func (o *order) xOf(i int) int { return o.items[o.units[i].item].X }

// oneLine returns the first unit that fits without its heading, if it can be one that says something.
func (o *order) oneLine(z version.Sizer, shown []bool, room int) (out []version.Segment) {
	for _, i := range slices.Concat(o.said...) {
		if o.units[i].cost > room+8 {
			continue
		}
		clear(shown)
		shown[i] = true
		segs := slices.DeleteFunc(o.digest(shown), func(s version.Segment) bool { return s.Role == "heading" })
		switch {
		case z.Size(segs) > room:
		case say(segs):
			return segs
		case out == nil:
			out = segs
		}
	}
	return out
}
