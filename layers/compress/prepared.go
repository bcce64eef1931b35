package compress

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/memvcs/mem/layers/tokens"
)

// A Prepared runs plans on one input. It caches what does not depend on the budget: the items of each tier and their
// order. The results do not depend on the cache. Make one with [Prepare]. It is safe for concurrent use; runs are
// serialised.
type Prepared struct {
	mu        sync.Mutex
	in        Input
	extractor *extractor
	shapes    []shape // the last ones
}

// A shape is the division of the items into tiers with these bounds, without these spans.
type shape struct {
	kept, summarised []Span
	bounds           [][2]int
	pins             []pin
	tiers            [][]Item
}

const (
	mostShapes = 2       // that are remembered
	mostSizes  = 1 << 16 // texts whose size is remembered
)

// Prepare returns an input ready for plans. The input must not change any more.
func Prepare(in Input) *Prepared { return &Prepared{in: in, extractor: newExtractor(sizer{})} }

// Run is [Run] on the input.
func (k *Prepared) Run(ctx context.Context, p Plan, engine Summarizer) (Result, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if engine.ID() != p.Engine {
		return Result{}, fmt.Errorf("%w: it was %s, this is %s", ErrEngineGone, p.Engine, engine.ID())
	}
	c, err := tokens.ByID(p.Tokenizer)
	if err != nil {
		return Result{}, err
	}
	if len(k.extractor.sizes) > mostSizes {
		clear(k.extractor.sizes)
	}
	s, err := k.shape(p)
	if err != nil {
		return Result{}, err
	}
	r := &run{in: k.in, plan: p, count: c, sizes: k.extractor.sizes, engine: engine, pins: s.pins}
	if _, own := engine.(Extract); own {
		r.engine = k.extractor
	}
	if err := r.shareBudget(s.tiers); err != nil {
		return Result{}, err
	}
	if err := r.summarizeTiers(ctx); err != nil {
		return Result{}, err
	}
	return r.finish(r.pins)
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
		clear(k.extractor.cached)
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
		items = withoutRetold(items, first)
		items = items[sort.Search(len(items), func(i int) bool { return items[i].N >= first }):]
	}
	for i, t := range p.Tiers {
		last := i == len(p.Tiers)-1
		n := sort.Search(len(items), func(i int) bool { return items[i].N > t.To && !last })
		s.tiers = append(s.tiers, items[:n:n])
		items = items[n:]
	}
	return s, nil
}
