package knowledge

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// Progress says how far each layer of a project is. L1 follows from the transcript and is computed when it is needed,
// so a missing L1 only costs time.
type Progress struct {
	Sessions  int      // listed sessions, without subagents
	L1        int      // sessions without L1 in the cache
	L2        []string // sessions with text that was not distilled, the newest first
	Distilled int      // sessions distilled at least in part
	Facts     int      // valid facts
	Exchanges int
	L3        int       // exchanges without a concept
	L4        bool      // there are facts newer than the last reflection
	Rules     int       // active rules
	Reflected time.Time // time of the last reflection; zero if there was none
}

// progressCache contains the part of a Progress that follows from the records at these tips.
type progressCache struct {
	Format int        `json:"format"`
	Tips   []refs.Tip `json:"tips"`
	Debt   Progress   `json:"debt"`
}

const progressVersion = 4

// minUndistilled is the estimated number of L1 tokens from which a session counts as undistilled: the client writes
// notes of its own after the last message.
const minUndistilled = 100

// Progress returns the progress of all layers. The part that follows from the records is computed once for each of
// their states.
func (m Ops) Progress(ctx context.Context, p refs.Project) (Progress, error) {
	st, err := trust.On(m.DB).Outline(ctx, p)
	if err != nil {
		return Progress{}, err
	}
	file := m.CachePath("debt", string(p))
	var c progressCache
	if !state.ReadCache(file, &c) || c.Format != progressVersion || !slices.Equal(c.Tips, st.Tips) {
		d, err := m.computeProgress(ctx, p, st)
		if err != nil {
			return d, err
		}
		c = progressCache{progressVersion, st.Tips, d}
		m.WriteCache(file, c)
	}
	c.Debt.L1 = len(m.withoutL1(st))
	return c.Debt, nil
}

func (m Ops) computeProgress(ctx context.Context, p refs.Project, st *state.State) (d Progress, err error) {
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
		if known.ThroughOf(s.ID, now.Generation) > 0 {
			d.Distilled++
		}
		if now.Scan.Messages > 0 && m.UndistilledTokens(s, known) >= minUndistilled {
			d.L2 = append(d.L2, s.ID)
		}
	}
	d.Facts, d.Exchanges, d.L3 = len(known.Live()), len(known.Exchanges), len(jobs.Unassigned(known))
	d.Rules, d.Reflected = len(rules.InState(permanent.Active)), rules.ReflectedAt
	d.L4 = FactStatements(records) > rules.Reflected
	return d, nil
}

// withoutL1 returns the sessions without L1 in the cache. If the cache cannot be read, that is all of them.
func (m Ops) withoutL1(st *state.State) (out []*state.Session) {
	entries, _ := os.ReadDir(m.CachePath("l1")) // a missing L1 only costs time
	have := make(map[string]bool, len(entries))
	for _, e := range entries {
		have[e.Name()] = true
	}
	for _, s := range st.Recent() {
		if !have[originals.L1Name(s.Now().Original, refine.Full)] {
			out = append(out, s)
		}
	}
	return out
}

// SizeWithoutL1 returns the number of bytes that [Ops.Refine] would read.
func (m Ops) SizeWithoutL1(ctx context.Context, p state.Project) (n int64, err error) {
	st, err := trust.On(m.DB).Outline(ctx, p.ID)
	if err != nil {
		return 0, err
	}
	for _, s := range m.withoutL1(st) {
		n += s.Now().Size
	}
	return n, nil
}

// Refine computes the missing L1 of the sessions of a project, calls progress after each, and returns their number.
func (m Ops) Refine(ctx context.Context, p state.Project, progress func(bytes int64)) (int, error) {
	st, err := trust.On(m.DB).Outline(ctx, p.ID)
	if err != nil {
		return 0, err
	}
	var todo []capture.Added
	for _, s := range m.withoutL1(st) {
		todo = append(todo, capture.Added{Session: s.ID, Project: p, Now: s.Now().Snapshot})
	}
	if err := derive.On(m.DB).CacheL1(ctx, todo, progress); err != nil {
		return 0, fmt.Errorf("refine: %w", err)
	}
	return len(todo), nil
}
