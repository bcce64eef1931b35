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
	"github.com/memvcs/mem/layers/trust"
)

// A part of a composition that is compressed to its share must contain the markers that survive there. How many
// survive depends on the share: the smaller it is, the higher the ratio and the fewer markers. So a share can be too
// small for its markers although a smaller one is not.

// settings returns the settings for compressing part i to ask tokens.
func (c *composer) settings(i, ask, distance int) compress.Settings {
	level := keepit.Moderate
	return compress.Settings{Tokens: ask, Level: &level, Distance: distance, Counter: c.counterOf(i),
		Since: c.after[i]}
}

// surviving returns the markers that survive if part i is compressed to n tokens.
func (c *composer) surviving(i, n, distance int) ([]compress.Segment, error) {
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

// charge returns the cost of texts in part i of the composition.
func (c *composer) charge(i int, segs []compress.Segment) int {
	if len(segs) == 0 {
		return 0
	}
	return compose.Charge(c.counter, i, segs)
}

// required returns the smallest size to which part i can be compressed if it keeps the texts.
func (c *composer) required(i int, segs []compress.Segment) int {
	return max(c.charge(i, segs), compress.PinTokens(c.counter, segs))
}

func keptSegment(k compress.Mark) compress.Segment {
	return compress.Segment{Role: "user", Text: k.Text, Src: [][2]int{{k.Message, k.Message}}, Keep: k.Weight.String()}
}

// minShare returns the smallest share from n on that has room, by cost, for the markers that survive in it. It exists:
// the surviving markers grow with the share, but never beyond all markers.
func (c *composer) minShare(i, n, distance int, cost func(int, []compress.Segment) int) (int, error) {
	for {
		segs, err := c.surviving(i, n, distance)
		need := cost(i, segs)
		if err != nil || need <= n {
			return n, err
		}
		n = need
	}
}

// choose decides the form of each part. A part that will be compressed gets the room that its markers need if the
// others can spare it.
func (c *composer) choose(ask compose.Request) (compose.Plan, error) {
	plan, err := compose.Choose(ask)
	for try := 0; err == nil && try < 4*len(ask.Sources); try++ {
		wider := ask
		wider.Sources = slices.Clone(ask.Sources)
		raised := false
		for i, p := range plan.Picks {
			if p.Kind != compose.PickNew || ask.Sources[i].Share > 0 {
				continue
			}
			n, err := c.minShare(i, p.Tokens, p.Distance, c.required)
			if err != nil {
				return plan, err
			}
			if n > p.Tokens {
				wider.Sources[i].MinTokens, raised = n, true
			}
		}
		if !raised {
			return plan, nil
		}
		next, err := compose.Choose(wider)
		if err != nil {
			c.shortfall = err
			break // some markers will not survive
		}
		ask, plan = wider, next
	}
	return plan, err
}

// limits returns, for each part that will be compressed, the largest number of tokens up to its share in which its
// surviving markers fit. The error is a [*compose.BudgetError] if there is none, or for a part with a fixed share a
// [*compress.PinError].
func (c *composer) limits(ctx context.Context, plan compose.Plan) ([]int, error) {
	out := make([]int, len(plan.Picks))
	for i, p := range plan.Picks {
		if p.Kind != compose.PickNew {
			continue
		}
		for n := p.Tokens; n > 0 && out[i] == 0; n -= 1 + n/50 {
			segs, err := c.surviving(i, n, p.Distance)
			if err != nil {
				return nil, err
			}
			if c.required(i, segs) <= n {
				out[i] = n
			}
		}
		if out[i] == 0 { // the engine's own error names the markers
			if _, err := c.run(ctx, i, p.Tokens, p.Distance); err != nil {
				return nil, cmp.Or(c.shortfall, c.wrapError(i, err))
			}
			out[i] = p.Tokens
		}
	}
	return out, nil
}

func (c *composer) run(ctx context.Context, i, ask, distance int) ([]compress.Segment, error) {
	plan, _, err := compress.Resolve(c.settings(i, ask, distance), c.mats[i].Stats, c.mats[i].Marks)
	if err != nil {
		return nil, err
	}
	res, err := compress.Run(ctx, c.mats[i].Input, plan, compress.Extract{})
	return res.Segments, err
}

func (c *composer) wrapError(i int, err error) error {
	return fmt.Errorf("compress %s: %w", records.ShortID(c.req.Parts[i].Rev.Session.ID), err)
}

// fit returns the number of tokens to request so that part i, with the tags of the composition, costs at most limit.
func (c *composer) fit(ctx context.Context, i, limit, distance int) (int, error) {
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
	if errors.As(err, &over) { // the budget of this part
		err = &compress.SmallError{Budget: limit}
	}
	return used, err
}

// compress creates a version of part i that costs at most limit. A more expensive one is not stored.
func (c *composer) compress(ctx context.Context, i, limit, distance int) error {
	rev, part := c.req.Parts[i].Rev, &c.out.Parts[i]
	engine, err := c.engine(ctx, i)
	if err != nil {
		return err
	}
	ask, err := c.fit(ctx, i, limit, distance)
	if err != nil {
		return c.wrapError(i, err)
	}
	made, err := c.compressWithin(ctx, i, allowance{ask, limit, distance}, engine)
	if err != nil {
		return err
	}
	part.Version, part.Hash, part.Tokens = made.Version.Label, made.Version.Derivation.Output, made.Version.TokensOut
	part.Segments, err = segments(ctx, c.m, rev.Project.ID, part.Hash)
	return err
}

// engine returns the engine for part i, nil for extract.
func (c *composer) engine(ctx context.Context, i int) (compress.Summarizer, error) {
	if c.req.Engine == nil {
		return nil, nil
	}
	return c.req.Engine(ctx, c.req.Parts[i].Rev)
}

// modelTries limits the requests to a model for one part: its segments, and so its tags, differ from those of extract.
const modelTries = 3

// An allowance limits the cost of a part.
type allowance struct {
	ask      int // requested tokens
	limit    int // tokens including tags
	distance int // of its session
}

// compressWithin compresses part i to r.ask tokens, or fewer if the tags of a model's answer exceed r.limit.
func (c *composer) compressWithin(ctx context.Context, i int, r allowance,
	engine compress.Summarizer) (CompressResult, error) {
	rev, now := c.req.Parts[i].Rev, c.req.Parts[i].Rev.Session.Now()
	for try := 1; ; try++ {
		s := c.settings(i, r.ask, r.distance)
		s.Engine = engine
		var over *compose.BudgetError
		made, err := compressBasis(ctx, c.m, rev, trust.Basis{Point: now, Input: now.Original, After: c.after[i], Purpose: records.ForComposition,
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
			return made, c.wrapError(i, err)
		}
	}
}

// estimate returns the usage of a model for the parts of a plan that must be compressed.
func (c *composer) estimate(ctx context.Context, plan compose.Plan, limits []int) (sum engines.Receipt, err error) {
	for i, p := range plan.Picks {
		if p.Kind != compose.PickNew {
			continue
		}
		engine, err := c.engine(ctx, i)
		if err != nil {
			return sum, err
		}
		if engine == nil {
			continue // extract costs nothing
		}
		ask, err := c.fit(ctx, i, limits[i], p.Distance)
		if err != nil {
			return sum, c.wrapError(i, err)
		}
		s := c.settings(i, ask, p.Distance)
		s.Engine = engine
		rev, now := c.req.Parts[i].Rev, c.req.Parts[i].Rev.Session.Now()
		made, err := compressBasis(ctx, c.m, state.Rev{Kind: state.IsSession, Project: rev.Project, Session: rev.Session},
			trust.Basis{Point: now, Input: now.Original, After: c.after[i]}, s, true)
		if err != nil {
			return sum, err
		}
		sum = sum.Add(made.Receipt)
	}
	return sum, nil
}
