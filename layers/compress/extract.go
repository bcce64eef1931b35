package compress

import (
	"container/heap"
	"context"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/transcript"
)

// Extract is the engine without a model: see the package comment. Its zero value is ready.
type Extract struct{}

// ID names the engine and its version.
func (Extract) ID() string { return "extract/22" }

// IsExtract reports whether an ID is that of the engine without a model, of any version.
func IsExtract(id string) bool { return strings.HasPrefix(id, "extract/") }

// Summarize returns the beginning of the order of everything that fits into the budget.
func (Extract) Summarize(ctx context.Context, req Request) (Summary, error) {
	room := req.Count.Unscale(req.Budget)
	if room <= 0 || len(req.Items) == 0 {
		return Summary{}, ctx.Err()
	}
	return newOrder(req.Items, req.Level).fit(sizer{}, room), ctx.Err()
}

// A step is what is taken at once: a unit with the parents that it needs.
type step struct {
	units []int32
	cost  int32 // about
}

// An order is everything that items say, the most valuable first.
type order struct {
	items   []Item
	units   []unit
	entries []*listed // of the lists of files and commands, by item
	said    []step    // what was said, and lists
	plans   []step    // at the aggressive level: the rest of what plans say
	code    []step    // changes, and what is late
	share   int       // what was said may have this part of its size as code; 0: no limit

	continued bool // the first exchange began before the first item
}

// priors are the values of the classes, relative to prose.
var priors = [classes]float64{userClass: 3, pasted: .3, asked: 1.6, closing: 1.5, prose: 1, summary: .5, report: .3, file: 1.6,
	command: .6, failed: 1, note: .8, change: 1}

var (
	// cue matches reasons, decisions, problems and findings.
	cue = pattern(`(?i)\b(because|instead|root cause|caused? by|the (real |actual )?(issue|problem|bug|reason|cause) (is|was|with)|turns out|found|fix(ed|es)?|can'?t|cannot|fails?|failed|failing|decid|decision|should|must|never|always|only|better|reason|so that|however|but|wrong|actually|recommend|option|prefer|trade-?offs?|risk|missing|not |n't|whether|pending|remaining|todo|next step|still|until|unless|rather than)`)
	// opening matches a sentence that only begins an answer.
	opening = pattern(`(?i)^\W{0,3}(you're (absolutely |quite )?right to ask|((that's|this is) )?(an? )?(very )?(good|great|fair|excellent|key|important|valid|interesting) ([a-z]+ ){0,2}(questions?|points?|catch|insight|observation|feedback|scenarios?))\b.{0,60}$|^\W{0,3}(Good|Great|Yes|Yep|No|You're right|Done|Perfect|Excellent|Ah|I see|Got it|Fixed|Sure|Right|Correct|OK|Okay|Interesting|Absolutely|Agreed|Now I)\b.{0,30}$`)
	// causes matches the finding of a reason.
	causes = pattern(`(?i)\b(because|root cause|caused? by|the (real |actual )?(issue|problem|bug|reason|cause) (is|was)|turns out|which means|needs to|should)\b`)
	// interjections matches what stands before the announcement of a step.
	interjections = pattern(`^\W{0,3}((Good|Great|Perfect|OK|Okay|Excellent|Right|Found it|I found it|There it is|I see|Expected|All (clear|green|clean))[.,!:—–-]+\s*)+`)
	// announcement matches the beginning of an announcement of a step.
	announcement = pattern(`^\W{0,3}(Let me\b|Now,? let me\b|Now let's|Next,|First,|Also,? let me|Now I see\b|I see\b|I can see\b|I need to (see|check|look|find|read)|I'll |I will |Now,? I'll|Now I |Let's |Continuing with|(Now )?I (now )?have (a |the |all )?([a-z]+ ){0,2}(understanding|picture|context|information)\b|` +
		`Now,? (also |to )?(the|update|add|fix|run|check|commit|push|sync|rebuild|close|create|write|test|verify|replace|remove|implement|install|continue|file|apply|wire|move|set|make|build|compile|look|rename|read|use|finish|start)\b)`)
)

// narrates reports whether a text is the announcement of a step.
func narrates(text string) bool {
	rest := text[len(interjections().FindString(text)):]
	return rest == "" || announcement().MatchString(rest) && !strings.HasPrefix(rest, "Let me know")
}

// idles reports whether a text announces a step, or only begins an answer, and says nothing else.
func idles(text string) bool {
	return len(text) <= 200 && (narrates(text) || opening().MatchString(text)) && !causes().MatchString(text)
}

// newOrder puts everything that items say into the order in which it is taken.
func newOrder(items []Item, level Level) *order {
	units, entries, terms := split(items)
	o := &order{items: items, units: units, entries: entries, share: 2}
	switch level {
	case keepit.Minimal:
		o.share = 0 // as much as there is room
	case keepit.Aggressive:
		o.share = 10 // code is in the repository
	}
	if len(o.units) == 0 {
		return o
	}
	lastX := exchangesOf(items)
	outcomes := map[int32]int{} // pieces of the outcome of an item so far
	plans := map[int32]int{}    // bytes of a plan so far
	typed := map[int32]int{}    // bytes of what the user typed at once so far
	mends := mendsOf(items)
	place := make([]float64, len(items)) // in its exchange, from 0 to 1
	for from := 0; from < len(items); {
		to := from + 1
		for to < len(items) && items[to].X == items[from].X {
			to++
		}
		for i := from; i < to; i++ {
			place[i] = float64(i-from) / float64(to-from)
		}
		from = to
	}
	reviews := reviewsOf(items) // the line from which on an item reads like pasted text
	for i := range o.units {
		u := &o.units[i]
		it := &items[u.item]
		v := priors[u.class] * float64(100+it.Weight) / 100
		switch u.class {
		case closing:
			v *= max(.75, 1-.03*float64(outcomes[u.item]))
			outcomes[u.item]++
			fallthrough
		case prose, summary, report:
			if cue().MatchString(u.text) {
				v *= 1.5
			}
			if strings.HasPrefix(u.text, "```") || strings.HasPrefix(u.text, "|") {
				v *= .6
			}
			again := u.class == report
			if strings.HasPrefix(it.Label, "plan") {
				const aim = 600 // bytes in which a plan says what it is for
				plans[u.item] += len(u.text)
				block := transcript.IsFence(u.text) || strings.HasPrefix(u.text, "|")
				begins := u.at == 0 && u.flags&listItem == 0 && !u.isHeading() && u.parent >= 0 && (o.units[u.parent].isHeading() || fileLine().MatchString(o.units[u.parent].text))
				switch {
				case plans[u.item] < aim && !block:
					v *= 1.5
				case (begins || u.list > 0 && !u.isHeading()) && !block:
					v *= .3 // the first sentence of a part
				default:
					v *= .15 // what was done says it again
					again = block
					if level == keepit.Aggressive {
						u.flags |= late
					}
				}
			}
			if u.class == prose && o.step(i) || u.class == closing && !o.ends(i) && narrates(u.text) && o.step(i) {
				u.flags |= idle
			}
			switch {
			case level < keepit.Aggressive:
			case again, u.flags&idle != 0, u.class == prose && o.mutters(i):
				v = 0
				u.flags |= late
			case u.flags&bulky != 0 && code(u.text):
				u.flags |= late
			}
			if mends[u.item] {
				v *= 1.5
			}
			if u.class == prose && !strings.HasPrefix(it.Label, "plan") {
				v *= .85 + .3*place[u.item] // what was found last holds
			}
		case failed:
			if o.entries[u.item].fixed {
				v *= .5
			}
		case userClass:
			if from, is := reviews[u.item]; is && int(u.line) > from || typed[u.item] > longTyped {
				v *= .2
			}
			typed[u.item] += len(u.text)
		case pasted:
			if u.flags&late != 0 {
				v = 0 // its beginning says what it is
			}
		case note:
			if it.Label == noReply {
				v = 0 // it comes with what is around it
			}
		case change:
			u.flags |= late
			switch {
			case level == keepit.Aggressive:
				v = 0 // it is in the repository
			case strings.Count(u.text, "\n") < 3:
				v *= .4 // an import, a name
			}
		case file, command:
			if unnamed(u.text) > 0 {
				v, u.flags = 0, u.flags|late // it only counts
			}
		}
		v *= 1 + .5*float64(lastX[u.item])/float64(max(1, lastX[len(items)-1])) // later exchanges first
		switch {                                                                // long blocks and announcements of steps come after everything else that was said
		case u.flags&idle != 0:
			v *= .02
		case u.flags&bulky != 0:
			v *= .1
		}
		u.prior = float32(v)
	}
	for i := range o.units { // a sentence does not wait for an announcement that never comes
		for u := &o.units[i]; u.parent >= 0 && o.units[u.parent].flags&(late|idle) == late|idle; {
			u.parent = o.units[u.parent].parent
		}
	}
	o.arrange(terms)
	return o
}

// reviewsOf returns the lines from which on the items of the user read like pasted text.
func reviewsOf(items []Item) map[int32]int {
	out := map[int32]int{}
	for i := range items {
		if items[i].Kind == User || items[i].Kind == Answer {
			if from := transcript.ReviewStart(items[i].Text); from >= 0 {
				out[int32(i)] = from
			}
		}
	}
	return out
}

// longTyped is the size in bytes from which on what the user typed at once tells details, or was pasted.
const longTyped = 600

// mendsOf returns the items of the assistant right before what had failed succeeds: they tell what was wrong.
func mendsOf(items []Item) map[int32]bool {
	out := map[int32]bool{}
	for i, it := range items {
		if it.Kind != Failure || it.Fixed == 0 {
			continue
		}
		for k := sort.Search(len(items), func(k int) bool { return items[k].N >= it.Fixed }) - 1; k > i; k-- {
			if items[k].Kind == Assistant && cue().MatchString(items[k].Text) {
				out[int32(k)] = true
				break
			}
		}
	}
	return out
}

// mutters reports whether a unit is a whole text between two steps that says next to nothing: "Clean compile."
func (o *order) mutters(i int) bool {
	u := &o.units[i]
	const few = 60 // bytes
	return len(u.text) < few && (i == 0 || o.units[i-1].item != u.item) && o.ends(i) && !strings.ContainsAny(u.text, "`0123456789") && !cue().MatchString(u.text)
}

// ends reports whether a unit is the last one of its text.
func (o *order) ends(i int) bool { return i+1 == len(o.units) || o.units[i+1].item != o.units[i].item }

// announces reports whether a unit leads in to nothing in its text: to a call of a tool, or what the user wrote.
func (o *order) announces(i int) bool {
	u := &o.units[i]
	return u.class == userClass || o.ends(i) && leadsIn(u.text) && !u.isHeading()
}

// step reports whether a unit only announces a step.
func (o *order) step(i int) bool {
	u := &o.units[i]
	if u.flags&lead == 0 {
		return idles(u.text)
	}
	return o.announces(i) && (len(u.text) < shortStep || idles(u.text))
}

// shortStep is the size in bytes up to which words that lead in to a call of a tool say little.
const shortStep = 120

// exchangesOf returns the index of the exchange of each item.
func exchangesOf(items []Item) []int {
	out, n := make([]int, len(items)), 0
	for i := range items {
		if i > 0 && items[i].X != items[i-1].X {
			n++
		}
		out[i] = n
	}
	return out
}

// arrange fills the steps.
func (o *order) arrange(terms [][]int32) {
	a := arranger{order: o, to: &o.said, terms: terms, children: make([][]int32, len(o.units)), seen: map[int32]int{}}
	for i := range o.units {
		if p := o.units[i].parent; p >= 0 {
			a.children[p] = append(a.children[p], int32(i))
		}
	}
	for _, u := range o.lines() {
		a.take(u)
	}
	a.filling = true
	for i := range o.units {
		u := &o.units[i]
		if u.flags&(taken|late) == 0 && (u.flags&lead == 0 || u.list > 0 || o.announces(i)) && !a.waits(int32(i)) {
			a.push(int32(i))
		}
	}
	a.drain()
	a.filling = false
	for _, a.to = range []*[]step{&o.plans, &o.code} {
		for i := range o.units {
			u := &o.units[i]
			if plan := u.class == prose && u.flags&bulky == 0; u.flags&late != 0 && u.prior > 0 && plan == (a.to == &o.plans) && !(plan && u.flags&lead != 0) {
				a.push(int32(i))
			}
		}
		a.drain()
	}
	for i := range o.units {
		o.units[i].flags &^= taken
	}
}

// lines returns the units of the line that every exchange gets first: the beginning of what the user said each time, and
// the first sentence of what the assistant said last. The last exchange comes first, then the first, then later ones
// before earlier ones.
func (o *order) lines() []int32 {
	of := exchangesOf(o.items)
	n := of[len(o.items)-1] + 1
	heads := make([][]int32, n)  // what comes first of each exchange
	lists := make([][]int32, n)  // outcomes that are lists
	around := make([][]int32, n) // what a request chooses from and leads in to
	put := func(x int, head bool, i int32) {
		if head || x == n-1 {
			heads[x] = append(heads[x], i)
		} else {
			o.units[i].prior *= followsLine
		}
	}
	const enough = 160 // bytes of a request
	size, from := 0, int32(-1)
	turns := turnsOf(o.items)
	ends := make([]int32, len(o.items)+1) // the last closing item of each turn
	for i := range o.items {
		if o.items[i].Closing {
			ends[turns[i]] = int32(i)
		}
	}
	var end []int32                         // how the session left the work
	told := make([]int, len(o.items)+1)     // of a turn: bytes of an outcome that say something
	headed := make([]int, len(o.items)+1)   // of a turn: those that come first
	answer := make([]int32, len(o.items)+1) // of a turn: the first item of the assistant that says something, plus one
	finding := make([]int32, n)             // of an exchange: the last sentence of the assistant that tells more than a step, plus one
	ended := make([]bool, n)                // it has an outcome
	typed := make([]int, len(o.items))      // bytes of a text of the user without what he pasted
	starts := make([]int32, len(o.items))   // the first unit of each item
	for i := range starts {
		starts[i] = -1
	}
	for i := len(o.units) - 1; i >= 0; i-- {
		starts[o.units[i].item] = int32(i)
		if o.units[i].class == userClass {
			typed[o.units[i].item] += len(o.units[i].text)
		}
	}
	for i := range o.units {
		u := &o.units[i]
		x, turn := of[u.item], turns[u.item]
		it := &o.items[u.item]
		if u.item != from {
			size, from = 0, u.item
			if it.Kind == User || it.Kind == Answer {
				around[x] = append(around[x], o.answered(u.item, starts)...)
			}
		}
		if it.Kind == Assistant && answer[turn] == 0 && turn > 0 && starts[u.item] == int32(i) && u.flags&(lead|bulky|idle|listItem) == 0 &&
			!opening().MatchString(u.text) && !strings.Contains(strings.ToLower(u.text), "let me ") {
			answer[turn] = u.item + 1
		}
		if (u.class == prose || u.class == closing) && u.flags&(lead|bulky|idle|listItem) == 0 && u.at == 0 && len(u.text) >= 26 &&
			!opening().MatchString(u.text) && !narrates(u.text) {
			finding[x] = int32(i) + 1
		}
		switch {
		case u.class == prose && answer[turn] == u.item+1 && starts[u.item] == int32(i) && asks(o.items, u.item):
			put(x, true, int32(i)) // what answers a question first
			ended[x] = true
		case it.Label == noAnswer:
			put(x, true, int32(i))
		case it.Label == atEnd:
			end = append(end, int32(i))
		case u.class == pasted && u.flags&bulky == 0:
			if typed[u.item] < 15 || size > 0 && size < 15 || i > 0 && size < 2*enough && o.units[i-1].class == userClass && leadsIn(o.units[i-1].text) {
				around[x] = append(around[x], int32(i))
			}
		case u.class == closing && u.list > 0 && u.item == ends[turn]:
			put(x, false, int32(i)) // a list or a table that is named
		case u.flags&(lead|bulky) != 0 && u.class != userClass, u.class == pasted:
		case u.class == userClass, it.Label == "copied":
			if size < enough && (size == 0 || size+len(u.text) < 2*enough) {
				put(x, true, int32(i))
				size += len(u.text)
			} else {
				size = enough
			}
		case u.class == closing:
			if u.item != ends[turn] && narrates(u.text) || !o.ends(i) && strings.Contains(u.text, "et me ") {
				continue // a step: an answer follows
			}
			if strings.HasPrefix(u.text, "|") && u.group < 0 || len(u.text) >= 240 && strings.HasPrefix(u.text, "```") || u.flags&listItem != 0 && told[turn] >= 90 {
				continue
			}
			goesOn := size > 0 && u.line == o.units[i-1].line
			short := goesOn && (size+len(u.text) <= shortOutcome || u.at == 1 && refers().MatchString(o.units[i-1].text))
			begins := u.item == ends[turn] && headed[turn] < 26 && (u.group < 0 || u.group == int32(i)) // the outcome
			if size < 26 || goesOn && size+len(u.text) <= longOutcome || begins && len(u.text) <= 240 || u.group == int32(i) {
				head := begins || short && u.item == ends[turn] && u.group < 0
				if head && u.group >= 0 && o.listCost(int32(i)) > shortCost {
					if p := u.parent; p >= 0 && o.units[p].list == int32(i) {
						lists[x] = append(lists[x], p) // its names come first
					}
					lists[x] = append(lists[x], int32(i))
				} else {
					put(x, head, int32(i))
				}
				ended[x] = ended[x] || head
				if head && !opening().MatchString(u.text) {
					headed[turn] += len(u.text)
				}
				if !opening().MatchString(u.text) {
					size += len(u.text)
					told[turn] += len(u.text)
				}
			}
		}
	}
	for x, i := range finding {
		if i > 0 && !ended[x] { // the user spoke before there was an outcome
			put(x, true, i-1)
		}
	}
	var out []int32
	for _, list := range [][][]int32{heads, lists, around} {
		add := func(x int) { out, list[x] = append(out, list[x]...), nil }
		add(n - 1)
		if k := slices.IndexFunc(list, func(l []int32) bool { return len(l) > 0 }); k >= 0 {
			add(k)
		}
		out, end = append(out, end...), nil
		for x := n - 1; x >= 0; x-- {
			add(x)
		}
	}
	return out
}

// followsLine is the worth of what follows the line of an exchange, relative to other text.
const followsLine = 3

// listCost returns the tokens of a list from an item on.
func (o *order) listCost(i int32) (cost int32) {
	for ; i > 0; i = o.units[i].next {
		cost += o.units[i].cost
	}
	return cost
}

// shortCost is the tokens of a list that can be an outcome without taking the room of another exchange.
const shortCost = 70

// shortOutcome is the size in bytes up to which the sentences of an outcome's first line belong together.
const shortOutcome = 120

// longOutcome is the size up to which more of them follow when every exchange has its line.
const longOutcome = 220

// turnsOf returns for each item the number of the turn that it belongs to: it begins with what the user said, or with an
// exchange.
func turnsOf(items []Item) []int {
	out, n, said := make([]int, len(items)), 0, false
	for i := range items {
		is := items[i].Kind == User || items[i].Kind == Answer || items[i].Kind == Script
		if is && !said || i > 0 && items[i].X != items[i-1].X && !said {
			n++
		}
		said = is
		out[i] = n
	}
	return out
}

// asks reports whether the last thing that the user said before an item is a question.
func asks(items []Item, i int32) bool {
	for k := i - 1; k >= 0 && items[k].X == items[i].X; k-- {
		if items[k].Kind == User || items[k].Kind == Answer {
			return strings.Contains(items[k].Text, "?")
		}
	}
	return false
}

// An arranger takes units one after the other, each time the one with the greatest value for its cost.
type arranger struct {
	*order
	to       *[]step       // what is taken
	filling  bool          // what depends on a taken unit is pushed
	terms    [][]int32     // of each unit
	seen     map[int32]int // how often each term was taken
	children [][]int32     // the units under each unit
	queue    candidates
	buffer   []int32 // of with
}

type candidate struct {
	unit  int32
	score float64
}

type candidates []candidate

func (q candidates) Len() int { return len(q) }
func (q candidates) Less(i, j int) bool {
	return q[i].score > q[j].score || q[i].score == q[j].score && q[i].unit < q[j].unit
}
func (q candidates) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *candidates) Push(x any)   { *q = append(*q, x.(candidate)) }
func (q *candidates) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

// waits reports whether a unit comes after one that is not taken: the item before it in a long list, the sentence before
// it, or the paragraph that it refers to.
func (a *arranger) waits(i int32) bool {
	p := a.units[i].parent
	return p >= 0 && (a.units[p].next == i || a.units[i].flags&after != 0) && a.units[p].flags&taken == 0
}

func (a *arranger) push(i int32) { heap.Push(&a.queue, candidate{i, a.score(i)}) }

// The value of a new name, of a new word, and of a sentence that has neither, for each token.
const (
	nameValue = 3
	wordValue = 1
	baseValue = .12
)

// gain is what a unit adds to what was taken.
func (a *arranger) gain(i int32) float64 {
	u := &a.units[i]
	g := baseValue * float64(u.cost)
	for _, t := range a.terms[i] {
		v := float64(wordValue)
		if t < 0 {
			v = nameValue
		}
		g += v / float64(1+3*a.seen[t])
	}
	return g * float64(u.prior)
}

// with returns the units that are taken with one that is not taken: its parents, and the whole of a short list. It is
// valid up to the next call.
func (a *arranger) with(i int32) []int32 {
	a.buffer = a.buffer[:0]
	for ; i >= 0 && a.units[i].flags&taken == 0; i = a.units[i].parent {
		g := a.units[i].group
		if g < 0 {
			a.buffer = append(a.buffer, i)
			continue
		}
		for k := g; ; k = a.units[k].next {
			if a.units[k].flags&taken == 0 {
				a.buffer = append(a.buffer, k)
			}
			if a.units[k].next == 0 {
				break
			}
		}
	}
	return a.buffer
}

// score is the value of a unit for each token that it costs, with the parents that it needs.
func (a *arranger) score(i int32) float64 {
	gain, cost := 0.0, 2.0
	for _, k := range a.with(i) {
		u := &a.units[k]
		g := a.gain(k)
		if u.flags&lead != 0 {
			g /= 2
		}
		gain += g
		cost += float64(u.cost)
	}
	return gain / math.Pow(cost, .95)
}

// drain takes all that was pushed. What has lost value since it was pushed waits again.
func (a *arranger) drain() {
	for a.queue.Len() > 0 {
		c := a.queue[0]
		if a.units[c.unit].flags&taken != 0 {
			heap.Pop(&a.queue)
			continue
		}
		if s := a.score(c.unit); s < c.score*.999 {
			a.queue[0].score = s
			heap.Fix(&a.queue, 0)
			continue
		}
		heap.Pop(&a.queue)
		a.take(c.unit)
	}
}

// take takes a unit with its parents. What has the same parents is worth more then.
func (a *arranger) take(i int32) {
	s := step{units: slices.Clone(a.with(i))}
	for _, k := range s.units {
		u := &a.units[k]
		u.flags |= taken
		s.cost += u.cost
		for _, t := range a.terms[k] {
			a.seen[t]++
		}
	}
	if len(s.units) == 0 {
		return
	}
	*a.to = append(*a.to, s)
	if !a.filling {
		return
	}
	for _, k := range s.units {
		for _, child := range a.children[k] {
			if u := &a.units[child]; u.flags&(taken|late) == 0 && (u.flags&lead == 0 || u.list > 0 || a.announces(int(child))) {
				a.push(child)
			}
		}
	}
}

// fit returns the longest beginning of the order that fits into room, in plain tokens.
func (o *order) fit(z sizer, room int) Summary {
	n, sum := 0, 0
	for n < len(o.said) && sum+int(o.said[n].cost) <= room {
		sum += int(o.said[n].cost)
		n++
	}
	chosen := make([]bool, len(o.units))
	set := func(steps []step, on bool) {
		for _, s := range steps {
			for _, u := range s.units {
				chosen[u] = on
			}
		}
	}
	try := func(k int) bool {
		clear(chosen)
		set(o.said[:k], true)
		return z.size(o.digest(chosen)) <= room
	}
	low, high := 0, len(o.said) // try(low) is true, or low is 0; try(high+1) would be false
	for low < high {
		k := (low + high + 1) / 2
		if low == 0 && high == len(o.said) { // near the estimate
			k = max(1, min(high, n*9/10))
		} else if high == len(o.said) && k > low+max(8, low/8) {
			k = low + max(8, low/8)
		}
		if try(k) {
			low = k
		} else {
			high = k - 1
		}
	}
	clear(chosen)
	set(o.said[:low], true)
	s := Summary{Segments: o.digest(chosen), Whole: low == len(o.said)}
	if low == 0 {
		s.Segments = o.oneLine(z, chosen, room)
	}
	if s.Whole {
		size := z.size(s.Segments)
		o.more(z, chosen, room*5/8-size, o.plans) // what was done says most of it again
		left := room - z.size(o.digest(chosen))
		most := left
		if o.share > 0 {
			most = min(left, size/o.share)
		}
		s.Whole = o.more(z, chosen, most, o.code) || most < left
		s.Segments = o.digest(chosen)
	}
	return s
}

// oneLine returns the first line that fits without its heading, if it can be one that says something.
func (o *order) oneLine(z sizer, chosen []bool, room int) (out []Segment) {
	for _, line := range o.said {
		if int(line.cost) > room+8 {
			continue
		}
		clear(chosen)
		for _, u := range line.units {
			chosen[u] = true
		}
		segs := slices.DeleteFunc(o.digest(chosen), func(s Segment) bool { return s.Role == "heading" })
		switch {
		case z.size(segs) > room:
		case say(segs):
			return segs
		case out == nil:
			out = segs
		}
	}
	return out
}

// more chooses steps of at most so many tokens, and reports whether these are all.
func (o *order) more(z sizer, chosen []bool, most int, steps []step) (all bool) {
	size := z.size(o.digest(chosen))
	large, left := most, most
	if o.share > 0 {
		large = max(600, most/2)
	}
	all = true
	for _, c := range steps {
		if int(c.cost) > left || int(c.cost) > large {
			all = false
			continue
		}
		left -= int(c.cost)
		for _, u := range c.units {
			chosen[u] = true
		}
	}
	for k := len(steps) - 1; z.size(o.digest(chosen)) > size+most; k-- {
		for ; k >= 0 && !chosen[steps[k].units[0]]; k-- {
		}
		if k < 0 {
			break
		}
		for _, u := range steps[k].units {
			chosen[u] = false
		}
	}
	return all
}
