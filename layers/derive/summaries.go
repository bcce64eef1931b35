package derive

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A summary of a week or month is a composition of the sessions themselves, each compressed to its share: versions of a
// session may be gone, or be those of another budget.

// summarise computes a summary that is due and stages it. It returns nil if the summary is up to date.
func (a *tierRun) summarise(ctx context.Context, stage *refs.Stage, due planning.Due) (*TierSummary, *records.Composition, error) {
	plan := records.ComposePlan{Asked: a.o.Policy.WeeklyTokens}
	if due.Age == planning.Monthly {
		plan.Asked = a.o.Policy.MonthlyTokens
	}
	var sessions []*state.Session
	for _, id := range due.Sessions {
		s := a.st.Session(id)
		sessions, plan.Of = append(sessions, s), append(plan.Of, id+" "+s.Now().Original.String())
	}
	slices.Sort(plan.Of)
	out := &TierSummary{Due: due, Label: due.Label(), TokensIn: a.estimate(due)}
	if was := a.st.Composition(out.Label); was != nil {
		if was.Tier != string(due.Age) {
			return nil, nil, errors.New("a composition with that name exists and is not a summary")
		}
		old, err := was.Plan()
		if err != nil || was.Revoked == "" && old.Asked == plan.Asked && slices.Equal(old.Of, plan.Of) {
			return nil, nil, err
		}
		out.Replaced = true
	}
	if a.o.DryRun {
		return out, nil, nil
	}
	c := &composer{m: a.m, counter: largestCounter(a.m, sessions), tier: due.Age,
		req: ComposeRequest{Project: a.p, Name: out.Label, Budget: plan.Asked, Strategy: compose.Proportional}}
	for _, s := range sessions {
		c.req.Parts = append(c.req.Parts, ComposePart{Rev: state.Rev{Kind: state.IsSession, Project: a.p, Session: s}})
	}
	if err := c.findCopies(ctx); err != nil {
		return nil, nil, err
	}
	n := len(c.req.Parts)
	if err := c.summarise(ctx); err != nil {
		return nil, nil, err
	}
	comp, body, err := c.record(plan)
	if err == nil {
		_, err = stage.Put(body)
	}
	out.Tokens, out.Omitted = comp.Tokens, n-len(c.req.Parts)
	return out, comp, err
}

// estimate returns the estimated tokens of the sessions of a summary.
func (a *tierRun) estimate(due planning.Due) (n int) {
	for _, s := range a.sessions {
		if slices.Contains(due.Sessions, s.ID) {
			n += s.Tokens
		}
	}
	return n
}

// summarise compresses each part to its share. If the parts do not fit, the smallest one without pinned text is left out.
// The budget is raised only for pinned texts, and for the last part.
func (c *composer) summarise(ctx context.Context) error {
	for {
		c.out = compose.Composition{Name: c.req.Name, Budget: c.req.Budget}
		c.mats, c.without = nil, nil
		ask, err := c.ask(ctx)
		if err != nil {
			return err
		}
		for {
			var short *compose.BudgetError
			var pins *planning.PinError
			plan, fits, err := c.plan(ctx, ask)
			if err == nil {
				err = c.digest(ctx, plan, fits)
			}
			if !errors.As(err, &short) && !errors.As(err, &pins) && !errors.Is(err, compress.ErrTooSmall) {
				return err
			}
			if c.dropSmallest(&ask) {
				continue
			}
			if c.req.Budget += c.req.Budget/8 + 16; short != nil {
				c.req.Budget = max(c.req.Budget, short.Need)
			}
			break
		}
	}
}

// digest fills the parts with what their plans say.
func (c *composer) digest(ctx context.Context, plan compose.Plan, fits []fitted) error {
	c.digests = nil
	for i, pick := range plan.Picks {
		how, r, err := c.run(ctx, i, fits[i].ask, pick.Distance)
		if err != nil {
			return c.wrapError(i, err)
		}
		part := &c.out.Parts[i]
		part.Version, part.Hash = compose.Original, c.req.Parts[i].Rev.Session.Now().Original
		part.Tokens, part.Segments, c.digests = r.Tokens, r.Segments, append(c.digests, how)
	}
	return c.out.Measure(c.counter)
}

// dropSmallest leaves out the smallest part without pinned text, unless it is the last one, and reports whether it did.
func (c *composer) dropSmallest(ask *compose.Request) bool {
	smallest := -1
	for i, s := range ask.Sources {
		if s.MinTokens == 0 && (smallest < 0 || s.Original < ask.Sources[smallest].Original) {
			smallest = i
		}
	}
	if smallest < 0 || len(ask.Sources) == 1 {
		return false
	}
	ask.Sources = slices.Delete(ask.Sources, smallest, smallest+1)
	c.req.Parts, c.mats = slices.Delete(c.req.Parts, smallest, smallest+1), slices.Delete(c.mats, smallest, smallest+1)
	c.without, c.after = slices.Delete(c.without, smallest, smallest+1), slices.Delete(c.after, smallest, smallest+1)
	c.out.Parts = slices.Delete(c.out.Parts, smallest, smallest+1)
	ask.Overhead = compose.Reserve(c.counter, c.req.Name, c.out.Parts)
	return true
}

// Digest returns the text of a part of a summary: a session, compressed as the plan says.
func Digest(ctx context.Context, db *state.DB, p refs.Project, session string, input objects.Hash,
	plan planning.Plan) ([]version.Segment, error) {
	st, err := trust.State(ctx, db, p)
	if err != nil {
		return nil, err
	}
	s := st.Session(session)
	if s == nil || s.Point(input) == nil {
		return nil, fmt.Errorf("its source %s: %w", input.Short(), objects.ErrNotFound)
	}
	mat, err := markers.ReadMaterial(ctx, db, p, s, s.Point(input), plan.Without)
	if err != nil {
		return nil, err
	}
	res, err := compress.Run(ctx, mat.Input, plan, compress.Extract{})
	return res.Segments, err
}
