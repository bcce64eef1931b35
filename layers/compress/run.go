package compress

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
)

// Input is a session, ready to compress.
type Input struct {
	// Items are the entries of L1 in order, as [Items] makes them. The Text of a User item is exactly what was
	// typed in its message: the offsets of spans count in it.
	Items []version.Item
}

// A Result is a finished version.
type Result struct {
	Segments []version.Segment
	Body     []byte // the segments as they are stored
	Tokens   int    // of [version.Text], by the plan's counter
	Messages int    // how many messages the segments name
	Whole    bool   // a larger budget would change nothing
}

// ErrEngineGone reports a plan for an engine, or a version of it, that this program does not have.
var ErrEngineGone = errors.New("made by another version of the engine")

// Run carries out a plan. Run promises that the tokens of the result are at most p.Budget, measured by the plan's
// counter on [version.Text] of the segments, and that every kept span is there byte for byte, in
// order; otherwise it fails. The error is a [*PinError] if the kept spans alone are too large.
func Run(ctx context.Context, in Input, p planning.Plan, engine version.Summarizer) (Result, error) {
	if engine.ID() != p.Engine {
		return Result{}, fmt.Errorf("%w: it was %s, this is %s", ErrEngineGone, p.Engine, engine.ID())
	}
	c, err := tokens.ByID(p.Tokenizer)
	if err != nil {
		return Result{}, err
	}
	items, pins, err := extractPins(in, p)
	if err != nil {
		return Result{}, err
	}
	r := &run{in: in, plan: p, count: c, sizes: version.Sizer{}, engine: engine, pins: pins}
	if err := r.shareBudget(items); err != nil {
		return Result{}, err
	}
	if err := r.summarizeTiers(ctx); err != nil {
		return Result{}, err
	}
	return r.finish(r.pins)
}

// A run executes a plan.
type run struct {
	in     Input
	plan   planning.Plan
	count  tokens.Counter
	engine version.Summarizer
	pins   []pin
	parts  []*part
	sizes  version.Sizer
}

// A part is a tier of a run.
type part struct {
	planning.Part
	items []version.Item
	order *order // of [Extract]: it does not depend on the room
	room  int    // tokens that are not for pins
	used  int
	whole bool // more room would change nothing
	segs  []version.Segment

	continued bool // its first exchange began before it
}

// shareBudget gives every tier its items, without those before the first tier, and the tokens that its pins leave; what
// the pins of a tier exceed it by, the others lose.
func (r *run) shareBudget(items []version.Item) error {
	pinned := pinTokens(r.count, r.sizes, pinSegments(r.pins))
	if pinned > r.plan.Budget {
		e := &planning.PinError{Need: pinned, Budget: r.plan.Budget}
		for _, p := range r.pins {
			e.Pins, e.Texts = append(e.Pins, p.Span), append(e.Texts, p.text)
		}
		return e
	}
	sum, before := 0, 0 // before: the exchange of the item before
	if len(r.plan.Tiers) > 0 {
		first := r.plan.Tiers[0].From
		items = withoutRetold(items, first)
		k := sort.Search(len(items), func(i int) bool { return items[i].N >= first })
		if i := lastSaid(items[:k]); i >= 0 {
			before = items[i].X
		}
		items = items[k:]
	}
	for i, t := range r.plan.Tiers {
		last := i == len(r.plan.Tiers)-1
		n := sort.Search(len(items), func(i int) bool { return items[i].N > t.To && !last })
		p := &part{Part: t, room: t.Budget, items: items[:n:n]}
		items = items[n:]
		if n > 0 {
			p.continued = p.items[0].X == before
			before = p.items[n-1].X
		}
		for _, pin := range r.pins {
			if t.From <= pin.Message && pin.Message <= t.To {
				p.room -= r.count.Scale(tokens.Raw(pin.text) + 2)
			}
		}
		p.room = max(p.room, 0)
		sum += p.room
		r.parts = append(r.parts, p)
	}
	if free := r.plan.Budget - pinned; sum > free {
		for _, p := range r.parts {
			p.room = int(int64(p.room) * int64(free) / int64(sum))
		}
	}
	return nil
}

// lastSaid returns the index of the last item that somebody said, or -1.
func lastSaid(items []version.Item) int {
	for i, it := range slices.Backward(items) {
		if it.Kind == version.User || it.Kind == version.Assistant || it.Kind == version.Script {
			return i
		}
	}
	return -1
}

// summarizeTiers lets the engine work; what some tiers leave over goes to the newest of the others.
func (r *run) summarizeTiers(ctx context.Context) error {
	for _, p := range r.parts {
		if err := r.summarize(ctx, p); err != nil {
			return err
		}
	}
	for _, p := range slices.Backward(r.parts) {
		left := r.plan.Budget - r.tokens()
		if left < r.plan.Budget/20+8 || p.whole || len(p.items) == 0 {
			continue
		}
		p.room = p.used + left
		if err := r.summarize(ctx, p); err != nil {
			return err
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
func (r *run) tokens() int { return r.count.Scale(r.sizes.Size(r.insertPins())) }

func (r *run) summarize(ctx context.Context, p *part) error {
	p.segs, p.used = nil, 0
	if p.room == 0 || len(p.items) == 0 {
		return nil
	}
	var s version.Summary
	err := ctx.Err()
	if _, own := r.engine.(Extract); !own {
		s, err = r.engine.Summarize(ctx, version.Request{Items: p.items, Budget: p.room, Count: r.count, Level: p.Level})
	} else if room := r.count.Unscale(p.room); room > 0 && err == nil {
		if p.order == nil {
			p.order = newOrder(p.items, p.Level)
			p.order.continued = p.continued
		}
		s = p.order.fit(r.sizes, room)
	}
	if err != nil {
		return fmt.Errorf("compress messages %d to %d: %w", p.From, p.To, err)
	}
	p.segs, p.whole = s.Segments, s.Whole
	if p.used = r.count.Scale(r.sizes.Size(p.segs)); p.used > p.room {
		return fmt.Errorf("compress messages %d to %d: engine %s used %d tokens of %d", p.From, p.To, r.engine.ID(),
			p.used, p.room)
	}
	return nil
}

// insertPins puts the pins back where they were.
func (r *run) insertPins() []version.Segment {
	var segs []version.Segment
	for _, p := range r.parts {
		segs = append(segs, p.segs...)
	}
	if len(r.pins) == 0 {
		return segs
	}
	out := make([]version.Segment, 0, len(segs)+len(r.pins))
	pins := r.pins
	for _, s := range segs {
		for len(pins) > 0 && len(s.Src) > 0 && r.before(pins[0], s) {
			out = append(out, pins[0].segment())
			pins = pins[1:]
		}
		out = append(out, s)
	}
	return append(out, pinSegments(pins)...)
}

// before reports whether a pin stands before a segment: in an earlier message, or before it in the text of its message.
func (r *run) before(p pin, s version.Segment) bool {
	if n := s.Src[0][0]; p.Message != n || s.Role != "user" {
		return p.Message < n
	}
	for _, it := range r.in.Items {
		if it.N == p.Message && it.Kind == version.User && !it.Kept {
			line, _, _ := strings.Cut(s.Text, "\n")
			return p.End <= len(it.Text) && strings.Contains(it.Text[p.End:], line)
		}
	}
	return false
}

// markPartial marks the segments of the user that are not a contiguous part of the typed text, ignoring white space.
func (r *run) markPartial(segs []version.Segment) {
	items := r.in.Items
	typed, item := "", -1 // the single-spaced text of items[item]; consecutive segments are often of the same item
	for i := range segs {
		s := &segs[i]
		if s.Role != "user" || s.Keep != "" || len(s.Src) == 0 {
			continue
		}
		text, last := singleSpaced(s.Text), s.Src[len(s.Src)-1][1]
		s.Partial = true
		for k := sort.Search(len(items), func(k int) bool { return items[k].N >= s.Src[0][0] }); s.Partial && k < len(items) && items[k].N <= last; k++ {
			it := &items[k]
			if it.Kind != version.User && it.Kind != version.Answer || it.Partial {
				continue
			}
			if item != k {
				typed, item = singleSpaced(it.Text), k
			}
			s.Partial = !strings.Contains(typed, text)
		}
	}
}

// singleSpaced returns a text with single spaces.
func singleSpaced(s string) string { return strings.Join(strings.Fields(s), " ") }

// finish checks the promises and encodes the version.
func (r *run) finish(pins []pin) (Result, error) {
	res := Result{Segments: r.insertPins(), Whole: !slices.ContainsFunc(r.parts, func(p *part) bool {
		return !p.whole && len(p.items) > 0
	})}
	r.markPartial(res.Segments)
	for _, s := range res.Segments {
		if s.Keep == "" || len(pins) == 0 {
			continue
		}
		if s.Text != pins[0].text || s.Keep != pins[0].Weight.String() {
			return Result{}, fmt.Errorf("pinned text of message %d was changed", pins[0].Message)
		}
		pins = pins[1:]
	}
	if len(pins) > 0 {
		return Result{}, fmt.Errorf("pinned text of message %d was lost", pins[0].Message)
	}
	res.Tokens = r.count.Scale(r.sizes.Size(res.Segments))
	if res.Tokens > r.plan.Budget {
		return Result{}, fmt.Errorf("compress to %d tokens: the result has %d", r.plan.Budget, res.Tokens)
	}
	res.Messages = version.Messages(version.Sources(res.Segments))
	var err error
	res.Body, err = version.Encode(res.Segments)
	return res, err
}
