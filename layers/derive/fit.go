package derive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
)

// A part of a composition that is compressed to its share must contain the markers that survive there. How many
// survive depends on the share: the smaller it is, the higher the ratio and the fewer markers. So a share can be too
// small for its markers although a smaller one is not.

// settings returns the settings for compressing part i to ask tokens.
func (c *composer) settings(i, ask, distance int) planning.Settings {
	level := keepit.Moderate
	if c.tier == planning.Monthly {
		level = keepit.Aggressive
	}
	return planning.Settings{Tokens: ask, Level: &level, Distance: distance, Counter: c.counterOf(i),
		Since: c.after[i]}
}

// surviving returns the markers that survive if part i is compressed to n tokens.
func (c *composer) surviving(i, n, distance int) ([]version.Segment, error) {
	if n < 1 || len(c.mats[i].Marks) == 0 {
		return nil, nil
	}
	_, fates, err := planning.Resolve(c.settings(i, n, distance), c.mats[i].Stats, c.mats[i].Marks)
	if err != nil {
		return nil, err
	}
	var segs []version.Segment
	for _, f := range fates {
		if f.Kept {
			segs = append(segs, keptSegment(f.Mark))
		}
	}
	return segs, nil
}

// charge returns the cost of texts in part i of the composition.
func (c *composer) charge(i int, segs []version.Segment) int {
	if len(segs) == 0 {
		return 0
	}
	return compose.Charge(c.counter, i, segs)
}

// required returns the smallest size to which part i can be compressed if it keeps the texts.
func (c *composer) required(i int, segs []version.Segment) int {
	return max(c.charge(i, segs), compress.PinTokens(c.counter, segs))
}

func keptSegment(k planning.Mark) version.Segment {
	return version.Segment{Role: "user", Text: k.Text, Src: [][2]int{{k.Message, k.Message}}, Keep: k.Weight.String()}
}

// minShare returns the smallest share from n on that has room, by cost, for the markers that survive in it. It exists:
// the surviving markers grow with the share, but never beyond all markers.
func (c *composer) minShare(i, n, distance int, cost func(int, []version.Segment) int) (int, error) {
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

// rounds limits how often the plan is made again with what is known of the parts.
const rounds = 3

// plan decides the form of each part, and how the parts that must be compressed fit. What a compression leaves of its
// share, because there is nothing else worth reading, goes to the other parts.
func (c *composer) plan(ctx context.Context, ask compose.Request) (compose.Plan, []fitted, error) {
	plan, err := c.choose(ask)
	if err != nil {
		return plan, nil, err
	}
	fits, err := c.fitAll(ctx, plan, nil)
	small := map[int]string{} // versions that are smaller than the room
	for round := 0; err == nil && round < rounds; round++ {
		next, more, err := c.useRest(ctx, &ask, plan, fits, small)
		if err != nil {
			return plan, nil, err
		}
		if !more {
			break
		}
		again, err := c.fitAll(ctx, next, fits)
		if err != nil {
			break // with more room, more markers survive, and they do not fit
		}
		plan, fits = next, again
	}
	for i, p := range plan.Picks {
		if _, would, ok := strings.Cut(p.Why, ": "); ok && p.Kind == compose.PickNew && small[i] != "" {
			plan.Picks[i].Why = small[i] + " would leave room: " + would
		}
	}
	return plan, fits, err
}

// useRest chooses again after what a plan showed: which compressions leave room, and, if much of the budget remains,
// which versions that nobody asked for are too small. It reports whether there is something new. The size of a model's
// answer is not known before.
func (c *composer) useRest(ctx context.Context, ask *compose.Request, plan compose.Plan, fits []fitted,
	small map[int]string) (compose.Plan, bool, error) {
	ask.Sources = slices.Clone(ask.Sources)
	rest, more := plan.Left, false
	for i, p := range plan.Picks {
		s := &ask.Sources[i]
		if p.Kind != compose.PickNew || s.Most > 0 || 10*fits[i].cost > 9*p.Tokens {
			continue
		}
		if engine, err := c.engine(ctx, i); err != nil {
			return plan, false, err
		} else if engine == nil || planning.IsExtract(engine.ID()) {
			s.Most, more = fits[i].cost, true
			rest += p.Tokens - fits[i].cost
		}
	}
	for i, p := range plan.Picks {
		s := &ask.Sources[i]
		hungry := p.Kind == compose.PickVersion && s.Pin == "" && s.Share == 0 && 10*p.Tokens > 9*p.Share
		if hungry && p.Version.Auto && 10*rest > ask.Budget {
			small[i], more = p.Version.Label, true
			s.Versions = slices.DeleteFunc(slices.Clone(s.Versions), func(v compose.Version) bool { return v.Tokens <= p.Version.Tokens })
		}
	}
	if !more {
		return plan, false, nil
	}
	next, err := compose.Choose(*ask)
	return next, err == nil, nil
}

// mostTries limits the budgets that are tried to find one that is large enough.
const mostTries = 40

// enough returns err with a budget that is large enough, found by trying, if err says that one is too small.
func (c *composer) enough(ctx context.Context, ask compose.Request, err error) error {
	var short *compose.BudgetError
	var pins *planning.PinError
	fixed := errors.As(err, &short) && short.Frame == 0 // the share of a part
	if fixed || short == nil && !errors.As(err, &pins) && !errors.Is(err, compress.ErrTooSmall) {
		return err
	}
	if pins != nil && slices.ContainsFunc(ask.Sources, func(s compose.Source) bool { return s.Share > 0 }) {
		return err
	}
	if short == nil {
		short = &compose.BudgetError{Budget: ask.Budget, Need: ask.Budget + 1}
	}
	for try, n := 0, short.Need; try < mostTries; try, n = try+1, n+max(4, n/32) {
		ask.Budget = n
		if _, _, err := c.plan(ctx, ask); err == nil {
			return &compose.BudgetError{Budget: short.Budget, Need: n, Frame: short.Frame, Pins: short.Pins}
		}
	}
	return err
}

// A fitted says how a part that is compressed fits into its share.
type fitted struct {
	ask   int // tokens to request
	limit int // tokens that it may cost
	cost  int // tokens that it costs if extract compresses it
}

// fitAll fits each part that will be compressed into its share, or into the largest size up to it in which the markers
// that survive there fit. A part that already costs its share is not changed. The error is a [*planning.PinError] if
// the markers of a part fit in none, or a [*compose.BudgetError] with a sufficient share for a fixed one.
func (c *composer) fitAll(ctx context.Context, plan compose.Plan, known []fitted) ([]fitted, error) {
	out := make([]fitted, len(plan.Picks))
	for i, p := range plan.Picks {
		if p.Kind != compose.PickNew {
			continue
		}
		if known != nil && known[i].cost == p.Tokens {
			out[i] = known[i]
			continue
		}
		var err error
		if out[i], err = c.fitPart(ctx, i, p.Tokens, p.Distance); err == nil {
			continue
		}
		if share := c.req.Parts[i].Share; share > 0 {
			err = c.enoughShare(ctx, i, share, p.Distance, err)
		}
		return nil, err
	}
	return out, nil
}

// enoughShare returns err with a share that is large enough for part i, found by trying.
func (c *composer) enoughShare(ctx context.Context, i, share, distance int, err error) error {
	var pins *planning.PinError
	n := share
	if errors.As(err, &pins) {
		n = max(n, pins.Need)
	}
	for try := 0; try < mostTries; try, n = try+1, n+max(4, n/32) {
		if _, wrong := c.fitPart(ctx, i, n, distance); wrong != nil {
			continue
		}
		if pins != nil {
			pins.Need = n // the error names the pins
			return err
		}
		return &compose.BudgetError{Budget: share, Need: n,
			Pins: []compose.Pin{{Session: c.req.Parts[i].Rev.Session.ID, What: "share", Tokens: n}}}
	}
	return err
}

// fitPart fits part i into a share.
func (c *composer) fitPart(ctx context.Context, i, share, distance int) (fitted, error) {
	for n := share; n > 0; n -= 1 + n/50 {
		segs, err := c.surviving(i, n, distance)
		if err != nil {
			return fitted{}, err
		}
		if c.required(i, segs) <= n {
			f, err := c.fit(ctx, i, n, distance)
			if err != nil {
				err = c.wrapError(i, err)
			}
			return f, err
		}
	}
	_, _, err := c.run(ctx, i, share, distance) // the engine's own error names the markers
	return fitted{}, cmp.Or(c.shortfall, c.wrapError(i, cmp.Or(err, compress.ErrTooSmall)))
}

// run compresses part i to ask tokens by extract.
func (c *composer) run(ctx context.Context, i, ask, distance int) (planning.Plan, compress.Result, error) {
	plan, _, err := planning.Resolve(c.settings(i, ask, distance), c.mats[i].Stats, c.mats[i].Marks)
	if err != nil {
		return plan, compress.Result{}, err
	}
	plan.Without = c.without[i]
	r, err := compress.Run(ctx, c.mats[i].Input, plan, compress.Extract{})
	return plan, r, err
}

func (c *composer) wrapError(i int, err error) error {
	return fmt.Errorf("compress %s: %w", records.ShortID(c.req.Parts[i].Rev.Session.ID), err)
}

// fit finds the number of tokens to request so that part i, with the tags of the composition, costs at most limit.
func (c *composer) fit(ctx context.Context, i, limit, distance int) (fitted, error) {
	f, size := fitted{limit: limit}, 0
	err := compose.Fit(limit,
		func(segs []version.Segment) int {
			cost := c.charge(i, segs)
			f.cost = max(cost, size)
			return cost
		},
		func(ask int) ([]version.Segment, error) {
			for {
				f.ask = ask
				_, r, err := c.run(ctx, i, ask, distance)
				var pins *planning.PinError
				if !errors.As(err, &pins) || pins.Need <= ask || pins.Need > limit {
					size = r.Tokens
					return r.Segments, err
				}
				ask = pins.Need // the markers alone
			}
		})
	var over *compose.BudgetError
	if errors.As(err, &over) || err == nil && f.cost == 0 { // the budget of this part
		err = &compress.SmallError{Budget: limit}
	}
	return f, err
}

// compress creates a version of part i that costs at most f.limit. A more expensive one is not stored.
func (c *composer) compress(ctx context.Context, i int, f fitted, distance int) (*CompressResult, error) {
	rev, part := c.req.Parts[i].Rev, &c.out.Parts[i]
	engine, err := c.engine(ctx, i)
	if err != nil {
		return nil, err
	}
	made, err := c.compressWithin(ctx, i, f, distance, engine)
	if err != nil {
		return nil, err
	}
	part.Version, part.Hash, part.Tokens = made.Version.Label, made.Version.Derivation.Output, made.Version.TokensOut
	part.Segments, err = segments(ctx, c.m, rev.Project.ID, part.Hash)
	return &made, err
}

// engine returns the engine for part i, nil for extract.
func (c *composer) engine(ctx context.Context, i int) (version.Summarizer, error) {
	if c.req.Engine == nil {
		return nil, nil
	}
	return c.req.Engine(ctx, c.req.Parts[i].Rev)
}

// modelTries limits the requests to a model for one part: its segments, and so its tags, differ from those of extract.
const modelTries = 3

// compressWithin compresses part i to f.ask tokens, or fewer if the tags of a model's answer exceed f.limit.
func (c *composer) compressWithin(ctx context.Context, i int, f fitted, distance int,
	engine version.Summarizer) (CompressResult, error) {
	rev, now := c.req.Parts[i].Rev, c.req.Parts[i].Rev.Session.Now()
	for try := 1; ; try++ {
		s := c.settings(i, f.ask, distance)
		s.Engine = engine
		var over *compose.BudgetError
		made, err := compressBasis(ctx, c.m, rev, trust.Basis{Point: now, Input: now.Original, After: c.after[i], Purpose: records.ForComposition,
			Accept: func(segs []version.Segment) error {
				if n := c.charge(i, segs); n > f.limit {
					return &compose.BudgetError{Budget: f.limit, Need: n}
				}
				return nil
			}}, s, false)
		c.receipt = c.receipt.Add(made.Receipt)
		if !errors.As(err, &over) || engine == nil || try == modelTries {
			return made, err
		}
		if f.ask -= over.Need - f.limit + f.limit/50 + 1; f.ask < 1 {
			return made, c.wrapError(i, err)
		}
	}
}

// estimate returns the usage of a model for the parts of a plan that must be compressed.
func (c *composer) estimate(ctx context.Context, plan compose.Plan, fits []fitted) (sum engines.Receipt, err error) {
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
		s := c.settings(i, fits[i].ask, p.Distance)
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
