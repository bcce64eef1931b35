package compress

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/memvcs/mem/layers/tokens"
)

// A Prepared runs plans on one input. It caches what does not depend on the budget: the items of each tier, the output
// of tools, and the units of the items. The results do not depend on the cache. Make one with [Prepare]. It is safe for
// concurrent use; runs are serialised.
type Prepared struct {
	mu        sync.Mutex
	in        Input
	sizes     sizer
	work      *Spill
	extractor *extractor
	shapes    []shape // the last ones
	once      bool    // there is one run only: what it does not need at its end is dropped
}

// A shape is the division of the items into tiers with these bounds, without these spans.
type shape struct {
	kept, summarised []Span
	bounds           [][2]int
	pins             []pin
	tiers            []*tier
}

// A tier is the items of a part of a plan.
type tier struct {
	said, detail []Item // detail: changed lines of edits, and what tools returned
	mixed        []Item // both; nil until they are needed
	all          []Item // with what tools returned in the original; nil until it is needed
}

const (
	mostShapes = 2       // that are remembered
	mostSizes  = 1 << 16 // texts whose size is remembered
	mostCached = 12      // lists of items that stay taken apart
)

// Prepare returns an input ready for plans. The input must not change any more.
func Prepare(in Input) *Prepared {
	k := &Prepared{in: in, sizes: sizer{}}
	k.forget()
	return k
}

// forget drops the cache of the engine.
func (k *Prepared) forget() {
	k.work = k.in.Spill.fresh()
	k.extractor = newExtractor(k.sizes, k.in.Spill.Text, k.work)
}

// Run is [Run] on the input.
func (k *Prepared) Run(ctx context.Context, p Plan, engine Summarizer) (Result, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, isOwn := engine.(Extract)
	if engine.ID() != p.Engine {
		return Result{}, fmt.Errorf("%w: it was %s, this is %s", ErrEngineGone, p.Engine, engine.ID())
	}
	r, err := k.prepare(p, !isOwn)
	if err != nil {
		return Result{}, err
	}
	if r.engine = engine; isOwn {
		r.engine, r.own = k.extractor, true
	}
	err = r.summarizeTiers(ctx)
	if spillErr := errors.Join(k.in.Spill.Err(), k.work.Err()); spillErr != nil {
		err = fmt.Errorf("read the spill file: %w", spillErr)
	}
	if err != nil || k.once || len(k.extractor.cached) > mostCached {
		k.forget()
	}
	if err != nil {
		return Result{}, err
	}
	r.engine = nil
	res, err := r.finish(r.pins)
	if spillErr := k.in.Spill.Err(); err == nil && spillErr != nil {
		return Result{}, fmt.Errorf("read the spill file: %w", spillErr)
	}
	return res, err
}

// prepare extracts the pins and divides the rest of the budget. If whole is set, all items have their texts in memory.
func (k *Prepared) prepare(p Plan, whole bool) (*run, error) {
	c, err := tokens.ByID(p.Tokenizer)
	if err != nil {
		return nil, err
	}
	if len(k.sizes) > mostSizes {
		clear(k.sizes)
	}
	r := &run{in: k.in, plan: p, count: c, sizes: k.sizes}
	var s shape
	if whole {
		r.in.Items = k.in.Spill.restored(k.in.Items)
		s, err = shapeOf(r.in, p)
	} else {
		s, err = k.shape(p)
	}
	if err != nil {
		return nil, err
	}
	r.pins = s.pins
	return r, r.shareBudget(s.tiers)
}

// shape returns the shape that a plan gives the input.
func (k *Prepared) shape(p Plan) (shape, error) {
	for _, s := range k.shapes {
		if s.fits(p) {
			return s, nil
		}
	}
	s, err := shapeOf(k.in, p)
	if err != nil {
		return shape{}, err
	}
	if len(k.shapes) == mostShapes {
		k.shapes = nil
		k.forget()
	}
	k.shapes = append(k.shapes, s)
	return s, nil
}

func (s *shape) fits(p Plan) bool {
	return slices.Equal(s.kept, p.Kept) && slices.Equal(s.summarised, p.Summarised) && slices.Equal(s.bounds, boundsOf(p))
}

func boundsOf(p Plan) [][2]int {
	out := make([][2]int, 0, len(p.Tiers))
	for _, t := range p.Tiers {
		out = append(out, [2]int{t.From, t.To})
	}
	return out
}

func shapeOf(in Input, p Plan) (shape, error) {
	items, pins, err := extractPins(in, p)
	if err != nil {
		return shape{}, err
	}
	s := shape{kept: slices.Clone(p.Kept), summarised: slices.Clone(p.Summarised), bounds: boundsOf(p), pins: pins}
	if len(p.Tiers) > 0 { // items before the first tier are left out
		first := p.Tiers[0].From
		items = items[sort.Search(len(items), func(i int) bool { return items[i].N >= first }):]
	}
	for i, t := range p.Tiers {
		last := i == len(p.Tiers)-1
		n := sort.Search(len(items), func(i int) bool { return items[i].N > t.To && !last })
		s.tiers = append(s.tiers, tierOf(items[:n:n]))
		items = items[n:]
	}
	return s, nil
}

// tierOf separates the items of a tier from the detail, which is used only when there is room.
func tierOf(items []Item) *tier {
	t := &tier{}
	for _, it := range items {
		if it.Kind == Output || it.Kind == Diff {
			t.detail = append(t.detail, it)
		}
	}
	if len(t.detail) == 0 {
		t.said = items
		return t
	}
	t.said = make([]Item, 0, len(items)-len(t.detail))
	for _, it := range items {
		if it.Kind != Output && it.Kind != Diff {
			t.said = append(t.said, it)
		}
	}
	return t
}

// detailed returns the items with their detail.
func (t *tier) detailed() []Item {
	if t.mixed == nil {
		t.mixed = zip(t.said, t.detail)
	}
	return t.mixed
}

// full returns the items with their detail and with what tools returned in the original.
func (t *tier) full(ctx context.Context, in Input, p Part) ([]Item, error) {
	if t.all != nil {
		return t.all, nil
	}
	var more []Item
	for it, err := range in.Output(ctx, p.From, p.To) {
		if err != nil {
			return nil, fmt.Errorf("read tool output of messages %d to %d: %w", p.From, p.To, err)
		}
		more = append(more, in.Spill.KeepItem(it))
	}
	t.all = zip(t.detailed(), more)
	return t.all, nil
}

// zip merges two lists of items in the order of their messages.
func zip(a, b []Item) []Item {
	out := append(append(make([]Item, 0, len(a)+len(b)), a...), b...)
	sort.SliceStable(out, func(i, j int) bool { return out[i].N < out[j].N })
	return out
}
