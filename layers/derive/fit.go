package derive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
)

// A part of a composition that is compressed to its share must hold the markers that survive there. How
// many survive depends on the share: the smaller it is, the higher the ratio and the fewer markers. So a
// share can be too small for its markers although a smaller one is not.

// settings are those that part i is compressed with to ask tokens.
func (c *composing) settings(i, ask, distance int) compress.Settings {
	level := keepit.Moderate
	return compress.Settings{Tokens: ask, Level: &level, Distance: distance, Counter: c.own(i)}
}

// kept returns the markers that survive when part i is compressed to n tokens.
func (c *composing) kept(i, n, distance int) ([]compress.Segment, error) {
	if n < 1 || len(c.mats[i].Marks) == 0 {
		return nil, nil
	}
	_, fates, err := compress.Resolve(c.settings(i, n, distance), c.mats[i].Stats, c.mats[i].Marks)
	if err != nil {
		return nil, err
	}
	var segs []compress.Segment
	for _, f := range fates {
		if f.Kept {
			segs = append(segs, keptSegment(f.Mark))
		}
	}
	return segs, nil
}

// charge returns what texts cost in part i of the composition.
func (c *composing) charge(i int, segs []compress.Segment) int {
	if len(segs) == 0 {
		return 0
	}
	return compose.Charge(c.counter, i, segs)
}

// held returns what part i must be compressed to at least so that it can keep texts.
func (c *composing) held(i int, segs []compress.Segment) int {
	return max(c.charge(i, segs), compress.PinTokens(c.counter, segs))
}

func keptSegment(k compress.Mark) compress.Segment {
	return compress.Segment{Role: "user", Text: k.Text, Src: [][2]int{{k.Message, k.Message}}, Keep: k.Weight.String()}
}

// room returns the smallest share from n on that holds the markers which survive in it, by what they cost.
// There is one: what survives grows with the share, but never beyond all markers.
func (c *composing) room(i, n, distance int, cost func(int, []compress.Segment) int) (int, error) {
	for {
		segs, err := c.kept(i, n, distance)
		need := cost(i, segs)
		if err != nil || need <= n {
			return n, err
		}
		n = need
	}
}

// choose decides the form of each part. What is to be compressed gets the room its markers need there, if
// the others can spare that.
func (c *composing) choose(ask compose.Request) (compose.Plan, error) {
	plan, err := compose.Choose(ask)
	for try := 0; err == nil && try < 4*len(ask.Sources); try++ {
		wider := ask
		wider.Sources = slices.Clone(ask.Sources)
		raised := false
		for i, p := range plan.Picks {
			if p.Kind != compose.PickNew || ask.Sources[i].Share > 0 {
				continue
			}
			n, err := c.room(i, p.Tokens, p.Distance, c.held)
			if err != nil {
				return plan, err
			}
			if n > p.Tokens {
				wider.Sources[i].Least, raised = n, true
			}
		}
		if !raised {
			return plan, nil
		}
		next, err := compose.Choose(wider)
		if err != nil {
			c.short = err
			break // there is not so much: some markers will not survive
		}
		ask, plan = wider, next
	}
	return plan, err
}

// limits returns, for each part that is to be compressed, the most of its tokens in which its surviving
// markers have room. The error is a [*compose.BudgetError] if there is no such number, or of a part whose share
// is fixed a [*compress.PinError].
func (c *composing) limits(ctx context.Context, plan compose.Plan) ([]int, error) {
	out := make([]int, len(plan.Picks))
	for i, p := range plan.Picks {
		if p.Kind != compose.PickNew {
			continue
		}
		for n := p.Tokens; n > 0 && out[i] == 0; n -= 1 + n/50 {
			segs, err := c.kept(i, n, p.Distance)
			if err != nil {
				return nil, err
			}
			if c.held(i, segs) <= n {
				out[i] = n
			}
		}
		if out[i] == 0 { // the engine's own error names the markers
			if _, err := c.run(ctx, i, p.Tokens, p.Distance); err != nil {
				return nil, cmp.Or(c.short, c.failed(i, err))
			}
			out[i] = p.Tokens
		}
	}
	return out, nil
}

// run compresses part i to at most ask tokens and stores nothing.
func (c *composing) run(ctx context.Context, i, ask, distance int) ([]compress.Segment, error) {
	plan, _, err := compress.Resolve(c.settings(i, ask, distance), c.mats[i].Stats, c.mats[i].Marks)
	if err != nil {
		return nil, err
	}
	res, err := compress.Run(ctx, c.mats[i].Input, plan, compress.Extract{})
	return res.Segments, err
}

func (c *composing) failed(i int, err error) error {
	return fmt.Errorf("compress %s: %w", records.ShortID(c.req.Parts[i].Rev.Session.ID), err)
}

// fit returns for how many tokens the engine must be asked so that part i costs at most limit with the tags
// that a composition adds.
func (c *composing) fit(ctx context.Context, i, limit, distance int) (int, error) {
	used := 0
	err := compose.Fit(limit,
		func(segs []compress.Segment) int { return c.charge(i, segs) },
		func(ask int) ([]compress.Segment, error) {
			for {
				used = ask
				segs, err := c.run(ctx, i, ask, distance)
				var pins *compress.PinError
				if !errors.As(err, &pins) || pins.Need <= ask || pins.Need > limit {
					return segs, err
				}
				ask = pins.Need // the markers alone
			}
		})
	var over *compose.BudgetError
	if errors.As(err, &over) { // of this part, not of the whole
		err = fmt.Errorf("%w into %s tokens", compress.ErrTooSmall, tokens.Commas(limit))
	}
	return used, err
}

// compress makes a version of part i that costs at most limit. Only one that does is stored.
func (c *composing) compress(ctx context.Context, i, limit, distance int) error {
	rev, part := c.req.Parts[i].Rev, &c.out.Parts[i]
	engine, err := c.engine(ctx, i)
	if err != nil {
		return err
	}
	ask, err := c.fit(ctx, i, limit, distance)
	if err != nil {
		return c.failed(i, err)
	}
	made, err := c.make(ctx, i, room{ask, limit, distance}, engine)
	if err != nil {
		return err
	}
	part.Version, part.Hash, part.Tokens = made.Version.Label, made.Version.Derivation.Output, made.Version.TokensOut
	part.Segments, err = c.segments(ctx, rev.Project.ID, part.Hash)
	return err
}

// engine returns what compresses part i, nil for extract.
func (c *composing) engine(ctx context.Context, i int) (compress.Summarizer, error) {
	if c.req.Engine == nil {
		return nil, nil
	}
	return c.req.Engine(ctx, c.req.Parts[i].Rev)
}

// modelTries is how often a model is asked for one part: it writes other segments than extract, and so other tags.
const modelTries = 3

// A room is what a part may cost.
type room struct {
	ask      int // tokens that it is asked for
	limit    int // that it may cost with its tags
	distance int // of its session
}

// make compresses part i to r.ask tokens, or fewer if the tags of a model's answer make it cost more than r.limit.
func (c *composing) make(ctx context.Context, i int, r room, engine compress.Summarizer) (Compressed, error) {
	rev, now := c.req.Parts[i].Rev, c.req.Parts[i].Rev.Session.Now()
	for try := 1; ; try++ {
		s := c.settings(i, r.ask, r.distance)
		s.Engine = engine
		var over *compose.BudgetError
		made, err := c.m.compress(ctx, rev, trust.Basis{Point: now, Input: now.Original, Purpose: records.ForComposition,
			Accept: func(segs []compress.Segment) error {
				if n := c.charge(i, segs); n > r.limit {
					return &compose.BudgetError{Budget: r.limit, Need: n}
				}
				return nil
			}}, s, false)
		c.receipt = c.receipt.Add(made.Receipt)
		if !errors.As(err, &over) || engine == nil || try == modelTries {
			return made, err
		}
		if r.ask -= over.Need - r.limit + r.limit/50 + 1; r.ask < 1 {
			return made, c.failed(i, err)
		}
	}
}

// estimate says what a model would take to compress the parts of a plan that must be compressed.
func (c *composing) estimate(ctx context.Context, plan compose.Plan, limits []int) (sum engines.Receipt, err error) {
	for i, p := range plan.Picks {
		if p.Kind != compose.PickNew {
			continue
		}
		engine, err := c.engine(ctx, i)
		if err != nil || engine == nil {
			return sum, err
		}
		ask, err := c.fit(ctx, i, limits[i], p.Distance)
		if err != nil {
			return sum, c.failed(i, err)
		}
		s := c.settings(i, ask, p.Distance)
		s.Engine = engine
		made, err := c.m.Compress(ctx, state.Rev{Kind: state.IsSession, Project: c.req.Parts[i].Rev.Project,
			Session: c.req.Parts[i].Rev.Session}, s, true)
		if err != nil {
			return sum, err
		}
		sum = sum.Add(made.Receipt)
	}
	return sum, nil
}
