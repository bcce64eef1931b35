package knowledge

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/permanent"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A Debt is what the layers of a project lack. L1 follows from the transcript and is made when it is needed, so what it
// lacks only costs time.
type Debt struct {
	Sessions  int      // in the lists, without subagents
	L1        int      // sessions whose L1 is not in the cache
	L2        []string // sessions with something to say that no fact was saved of, the newest first
	Distilled int      // sessions of which some was said
	Facts     int      // that stand
	Exchanges int
	L3        int       // exchanges that belong to no concept
	L4        bool      // there are facts that no reflection has seen
	Rules     int       // that are in force
	Reflected time.Time // zero if nobody ever reflected
}

// debtCache is what of a debt follows from the records, as it was at some tips.
type debtCache struct {
	Format int        `json:"format"`
	Tips   []refs.Tip `json:"tips"`
	Home   []refs.Tip `json:"home"` // where it is said which devices are trusted
	Debt   Debt       `json:"debt"`
}

const debtVersion = 3

// leastUnsaid is up to how many tokens of L1, estimated, a session counts as distilled: the client writes notes
// of its own behind the last message.
const leastUnsaid = 100

// Debt returns what the layers of a project lack. What follows from the records is computed once for each state
// of them.
func (m Ops) Debt(ctx context.Context, p refs.Project) (Debt, error) {
	st, err := trust.On(m.DB).Outline(ctx, p)
	if err != nil {
		return Debt{}, err
	}
	own, err := trust.On(m.DB).Bare(ctx, refs.Home)
	if err != nil {
		return Debt{}, err
	}
	file := m.CachePath("debt", string(p))
	var c debtCache
	if !state.ReadCache(file, &c) || c.Format != debtVersion || !slices.Equal(c.Tips, st.Tips) ||
		!slices.Equal(c.Home, own.Tips) {
		d, err := m.debt(ctx, p, st)
		if err != nil {
			return d, err
		}
		c = debtCache{debtVersion, st.Tips, own.Tips, d}
		m.WriteCache(file, c)
	}
	c.Debt.L1 = m.unrefined(st)
	return c.Debt, nil
}

func (m Ops) debt(ctx context.Context, p refs.Project, st *state.State) (d Debt, err error) {
	records, err := m.Upper(ctx, p)
	if err != nil {
		return d, err
	}
	all, err := trust.On(m.DB).Folded(ctx, p, records)
	if err != nil {
		return d, err
	}
	known, jobs, rules := all.Facts, all.Concepts, all.Rules
	for _, s := range st.Recent() {
		now := s.Now()
		d.Sessions++
		through := known.ThroughOf(s.ID, now.Generation)
		if through > 0 {
			d.Distilled++
		}
		if left := now.Scan.Values - through; left > 0 && now.Scan.Messages > 0 {
			if markers.On(m.DB).Counter(now).Estimate(now.Said()*int64(left)/int64(now.Scan.Values)) >= leastUnsaid {
				d.L2 = append(d.L2, s.ID)
			}
		}
	}
	for _, f := range known.Live() {
		if !st.FromStranger(f.Device) {
			d.Facts++
		}
	}
	for _, x := range known.Exchanges {
		if !st.FromStranger(x.Device) {
			d.Exchanges++
		}
	}
	for _, x := range jobs.Unassigned(known) {
		if !st.FromStranger(x.Device) {
			d.L3++
		}
	}
	d.Rules, d.L4, d.Reflected = len(rules.InState(permanent.Active)), history.FactStatements(records) > rules.Reflected,
		rules.ReflectedAt
	return d, nil
}

// unrefined counts the sessions whose L1 is not in the cache.
func (m Ops) unrefined(st *state.State) int {
	entries, err := os.ReadDir(m.CachePath("l1"))
	if err != nil {
		entries = nil // there is none yet
	}
	have := make(map[string]bool, len(entries))
	for _, e := range entries {
		have[e.Name()] = true
	}
	n := 0
	for _, s := range st.Recent() {
		if !have[originals.L1Name(s.Now().Original, refine.Full)] {
			n++
		}
	}
	return n
}

// lackL1 returns the sessions of a project whose L1 is not in the cache.
func (m Ops) lackL1(ctx context.Context, p state.Project) ([]capture.Added, error) {
	st, err := trust.On(m.DB).Outline(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	var todo []capture.Added
	for _, s := range st.Recent() {
		if _, err := os.Stat(m.CachePath("l1", originals.L1Name(s.Now().Original, refine.Full))); err != nil {
			todo = append(todo, capture.Added{Session: s.ID, Project: p, Now: s.Now().Snapshot})
		}
	}
	return todo, nil
}

// Unrefined returns how many bytes [Ops.Refine] would go through.
func (m Ops) Unrefined(ctx context.Context, p state.Project) (n int64, err error) {
	todo, err := m.lackL1(ctx, p)
	for _, a := range todo {
		n += a.Now.Size
	}
	return n, err
}

// Refine makes the L1 of the sessions of a project that lack it, and calls progress after each.
func (m Ops) Refine(ctx context.Context, p state.Project, progress func(bytes int64)) (int, error) {
	todo, err := m.lackL1(ctx, p)
	if err != nil {
		return 0, err
	}
	if err := derive.On(m.DB).Derive(ctx, todo, progress); err != nil {
		return 0, fmt.Errorf("refine: %w", err)
	}
	return len(todo), nil
}
