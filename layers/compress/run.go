package compress

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/memvcs/mem/layers/tokens"
)

// Input is a session, ready to compress.
type Input struct {
	// Items are the entries of L1 in order, as [Items] makes them. The Text of a User item is exactly what was
	// typed in its message: the offsets of spans count in it.
	Items []Item
	// Output yields what tools returned in the messages from..to, in order, as items of kind [Output]. It is only
	// asked when the budget has room for more than Items hold. It may be nil.
	Output func(from, to int) iter.Seq2[Item, error]
	// Aside holds the texts that Items do not. It may be nil.
	Aside *Aside
}

// Text returns the text of one of the items.
func (in Input) Text(it *Item) string { return in.Aside.Text(it) }

// Result is a finished version.
type Result struct {
	Segments []Segment
	Body     []byte // the segments as they are stored
	Tokens   int    // of [Text], by the plan's counter
	Messages int    // how many messages the segments name
}

// ErrEngineGone says that a plan is for an engine that this program does not have: what it once made cannot be
// made again.
var ErrEngineGone = errors.New("made by another version of the engine")

// Run carries out a plan. Run promises that the tokens of the result are at most p.Budget, measured by the plan's
// counter on [Text] of the segments and on [Markdown] of them, and that every kept span is there byte for byte, in
// order; otherwise it fails. The error is a [*PinError] if the kept spans alone are too large.
func Run(ctx context.Context, in Input, p Plan, engine Summarizer) (Result, error) {
	_, isOwn := engine.(Extract)
	if engine.ID() != p.Engine {
		return Result{}, fmt.Errorf("%w: it was %s, this is %s", ErrEngineGone, p.Engine, engine.ID())
	}
	c, err := tokens.ByID(p.Tokenizer)
	if err != nil {
		return Result{}, err
	}
	r := &run{in: in, plan: p, count: c, engine: engine, sizes: sizer{}}
	work := in.Aside.again()
	if isOwn {
		r.engine, r.own = newExtractor(r.sizes, in.Aside.Text, work), true
	} else {
		r.in.Items = in.Aside.whole(in.Items)
	}
	if err := r.prepare(); err != nil {
		return Result{}, err
	}
	if err := r.fill(ctx); err != nil {
		return Result{}, err
	}
	if err := errors.Join(in.Aside.Err(), work.Err()); err != nil {
		return Result{}, fmt.Errorf("read what was put aside: %w", err)
	}
	r.engine = nil // what it holds is not needed any more
	return r.finish(r.pins)
}

// CheckPins says whether the kept texts of a plan have room in its budget: the error is a [*PinError] if not.
func CheckPins(in Input, p Plan) error {
	c, err := tokens.ByID(p.Tokenizer)
	if err != nil {
		return err
	}
	r := &run{in: in, plan: p, count: c, sizes: sizer{}}
	return r.prepare()
}

// run is a plan on its way.
type run struct {
	in     Input
	plan   Plan
	count  Counter
	engine Summarizer
	own    bool // the engine is Extract
	pins   []pin
	parts  []*part
	sizes  sizer
}

// part is a tier on its way.
type part struct {
	Part
	items  []Item
	detail []Item // changed lines of edits
	room   int    // tokens that are not for pins
	used   int
	extra  int // what was added to the items: 1 = detail, 2 = tool output, too
	segs   []Segment
}

// prepare cuts out the pins and shares out what they leave.
func (r *run) prepare() error {
	items, pins, err := cutOut(r.in, r.plan)
	if err != nil {
		return err
	}
	r.pins = pins
	return r.share(items)
}

// share gives every tier the tokens that its pins leave; what the pins of a tier exceed it by, the others lose.
func (r *run) share(items []Item) error {
	pinned := pinned(r.count, r.sizes, pinSegments(r.pins))
	if pinned > r.plan.Budget {
		e := &PinError{Need: pinned, Budget: r.plan.Budget}
		for _, p := range r.pins {
			e.Pins, e.Texts = append(e.Pins, p.Span), append(e.Texts, p.text)
		}
		return e
	}
	sum := 0
	for _, t := range r.plan.Tiers {
		p := &part{Part: t, room: t.Budget}
		for _, pin := range r.pins {
			if t.From <= pin.Message && pin.Message <= t.To {
				p.room -= r.count.Scale(tokens.Raw(pin.text) + 2)
			}
		}
		p.room = max(p.room, 0)
		sum += p.room
		last := len(r.parts) == len(r.plan.Tiers)-1
		n := sort.Search(len(items), func(i int) bool { return items[i].N > t.To && !last })
		p.items, p.detail = r.sort(items[:n:n])
		items = items[n:]
		r.parts = append(r.parts, p)
	}
	if free := r.plan.Budget - pinned; sum > free {
		for _, p := range r.parts {
			p.room = int(int64(p.room) * int64(free) / int64(sum))
		}
	}
	return nil
}

// sort tells the items of a tier from what is only read when there is room. Items before the first tier are left out.
func (r *run) sort(items []Item) (said, detail []Item) {
	items = items[sort.Search(len(items), func(i int) bool { return items[i].N >= r.plan.Tiers[0].From }):]
	for _, it := range items {
		if it.Kind == Output || it.Kind == Diff {
			detail = append(detail, it)
		}
	}
	if len(detail) == 0 {
		return items, nil
	}
	said = make([]Item, 0, len(items)-len(detail))
	for _, it := range items {
		if it.Kind != Output && it.Kind != Diff {
			said = append(said, it)
		}
	}
	return said, detail
}

// fill lets the engine work, twice at most more: what some tiers leave over goes to those that used up theirs.
func (r *run) fill(ctx context.Context) error {
	todo := r.parts
	for range 3 {
		for _, p := range todo {
			if err := r.summarize(ctx, p); err != nil {
				return err
			}
		}
		left, hungry := r.plan.Budget-r.tokens(), 0
		todo = nil
		for _, p := range r.parts {
			if p.used >= p.room*9/10 && p.used > 0 {
				todo = append(todo, p)
				hungry += p.room
				if r.own {
					left -= p.room - p.used
				}
			}
		}
		if left < r.plan.Budget/20+8 || hungry == 0 {
			break
		}
		for _, p := range todo {
			p.room += int(int64(left) * int64(p.room) / int64(hungry))
		}
	}
	for excess := r.tokens() - r.plan.Budget; excess > 0; excess = r.tokens() - r.plan.Budget {
		p := r.largest()
		if p.used == 0 {
			return fmt.Errorf("compress to %d tokens: %d too many", r.plan.Budget, excess)
		}
		p.room = max(0, min(p.room, p.used)-excess)
		if err := r.summarize(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) largest() *part {
	best := r.parts[0]
	for _, p := range r.parts {
		if p.used > best.used {
			best = p
		}
	}
	return best
}

// tokens is the length of the version as it stands.
func (r *run) tokens() int { return r.count.Scale(r.sizes.size(r.splice())) }

func (r *run) summarize(ctx context.Context, p *part) error {
	p.segs, p.used = nil, 0
	if p.room == 0 {
		return nil
	}
	room := r.count.Unscale(p.room)
	close := r.own && near(p.items, room, p.Level)
	if p.extra == 0 && (close || r.in.roomy(p.items, room)) {
		p.extra++
		p.items = zip(p.items, p.detail)
	}
	if p.extra == 1 && r.in.Output != nil && (close || r.in.roomy(p.items, room)) {
		p.extra++
		if err := r.addOutput(p); err != nil {
			return err
		}
	}
	if len(p.items) == 0 {
		return nil
	}
	s, err := r.engine.Summarize(ctx, Request{Items: p.items, Budget: p.room, Count: r.count, Level: p.Level})
	if err != nil {
		return fmt.Errorf("compress messages %d to %d: %w", p.From, p.To, err)
	}
	p.segs = s.Segments
	if p.used = r.count.Scale(r.sizes.size(p.segs)); p.used > p.room {
		return fmt.Errorf("compress messages %d to %d: engine %s used %d tokens of %d", p.From, p.To, r.engine.ID(),
			p.used, p.room)
	}
	return nil
}

// roomy says whether all of the items would leave a good part of room (plain tokens) unused.
func (in Input) roomy(items []Item, room int) bool {
	raw := 0
	for _, it := range items {
		if raw += tokens.Raw(in.Text(&it)) + 2; raw > room*5/4 {
			return false
		}
	}
	return true
}

// addOutput mixes what tools returned into the items.
func (r *run) addOutput(p *part) error {
	var more []Item
	for it, err := range r.in.Output(p.From, p.To) {
		if err != nil {
			return fmt.Errorf("read tool output of messages %d to %d: %w", p.From, p.To, err)
		}
		more = append(more, r.in.Aside.KeepItem(it))
	}
	p.items = zip(p.items, more)
	return nil
}

// zip joins two lists of items in the order of their messages.
func zip(a, b []Item) []Item {
	out := append(append(make([]Item, 0, len(a)+len(b)), a...), b...)
	sort.SliceStable(out, func(i, j int) bool { return out[i].N < out[j].N })
	return out
}

// splice puts the pins back where they were.
func (r *run) splice() []Segment {
	var segs []Segment
	for _, p := range r.parts {
		segs = append(segs, p.segs...)
	}
	if len(r.pins) == 0 {
		return segs
	}
	out := make([]Segment, 0, len(segs)+len(r.pins))
	pins := r.pins
	for _, s := range segs {
		for len(pins) > 0 && len(s.Src) > 0 && pins[0].Message < s.Src[0][0] {
			out = append(out, pins[0].segment())
			pins = pins[1:]
		}
		out = append(out, s)
	}
	return append(out, pinSegments(pins)...)
}

// markPartial marks the segments of the user that are not one unbroken piece of what was typed, white space
// aside. What a model calls the user's and only a script typed is the script's.
func (r *run) markPartial(segs []Segment) {
	items := r.in.Items
	for i := range segs {
		s := &segs[i]
		if s.Role != "user" || s.Keep != "" || len(s.Src) == 0 {
			continue
		}
		text, first := flat(s.Text), s.Src[0][0]
		s.Partial = true
		script := false
		for k := sort.Search(len(items), func(k int) bool { return items[k].N >= first }); k < len(items) &&
			items[k].N <= s.Src[len(s.Src)-1][1]; k++ {
			script = script || items[k].Kind == Script
			if it := &items[k]; (it.Kind == User || it.Kind == Answer) && !it.Partial &&
				strings.Contains(flat(r.in.Text(it)), text) {
				s.Partial, script = false, false
				break
			}
		}
		if script && !r.typedIn(s) {
			s.Role, s.Partial = "script", false
		}
	}
}

// typedIn reports whether the user typed or answered anything in the messages of a segment.
func (r *run) typedIn(s *Segment) bool {
	return slices.ContainsFunc(r.in.Items, func(it Item) bool {
		return (it.Kind == User || it.Kind == Answer) && it.N >= s.Src[0][0] && it.N <= s.Src[len(s.Src)-1][1]
	})
}

// flat returns a text with single spaces.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// finish checks the promises and encodes the version.
func (r *run) finish(pins []pin) (Result, error) {
	res := Result{Segments: r.splice()}
	r.markPartial(res.Segments)
	for _, s := range res.Segments {
		if s.Keep == "" || len(pins) == 0 {
			continue
		}
		if s.Text != pins[0].text || s.Keep != pins[0].Weight.String() {
			return Result{}, fmt.Errorf("kept text of message %d was changed", pins[0].Message)
		}
		pins = pins[1:]
	}
	if len(pins) > 0 {
		return Result{}, fmt.Errorf("kept text of message %d was lost", pins[0].Message)
	}
	text, _ := r.sizes.both(res.Segments)
	res.Tokens = r.count.Scale(text)
	if res.Tokens > r.plan.Budget {
		return Result{}, fmt.Errorf("compress to %d tokens: the result has %d", r.plan.Budget, res.Tokens)
	}
	named := map[int]bool{}
	for _, s := range res.Segments {
		for _, m := range s.Src {
			for n := m[0]; n <= m[1]; n++ {
				named[n] = true
			}
		}
	}
	res.Messages = len(named)
	var err error
	res.Body, err = Encode(res.Segments)
	return res, err
}
