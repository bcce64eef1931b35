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

// ReadProgress returns the progress of all layers. The part that follows from the records is computed once for each of
// their states.
func ReadProgress(ctx context.Context, db *state.DB, p refs.Project) (Progress, error) {
	st, err := trust.Outline(ctx, db, p)
	if err != nil {
		return Progress{}, err
	}
	file := db.CachePath("debt", string(p))
	var c progressCache
	if !state.ReadCache(file, &c) || c.Format != progressVersion || !slices.Equal(c.Tips, st.Tips) {
		d, err := computeProgress(ctx, db, p, st)
		if err != nil {
			return d, err
		}
		c = progressCache{progressVersion, st.Tips, d}
		db.WriteCache(file, c)
	}
	c.Debt.L1 = len(withoutL1(db, st))
	return c.Debt, nil
}

func computeProgress(ctx context.Context, db *state.DB, p refs.Project, st *state.State) (d Progress, err error) {
	records, err := db.Upper(ctx, p)
	if err != nil {
		return d, err
	}
	all, err := trust.Folded(ctx, db, p, records)
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
		if now.Scan.Messages > 0 && UndistilledTokens(db, s, known) >= minUndistilled {
			d.L2 = append(d.L2, s.ID)
		}
	}
	d.Facts, d.Exchanges, d.L3 = len(known.Live()), len(known.Exchanges), len(jobs.Unassigned(known))
	d.Rules, d.Reflected = len(rules.InState(permanent.Active)), rules.ReflectedAt
	d.L4 = FactStatements(records) > rules.Reflected
	return d, nil
}

// withoutL1 returns the sessions without L1 in the cache. If the cache cannot be read, that is all of them.
func withoutL1(db *state.DB, st *state.State) (out []*state.Session) {
	entries, _ := os.ReadDir(db.CachePath("l1")) // a missing L1 only costs time
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

// SizeWithoutL1 returns the number of bytes that [Refine] would read.
func SizeWithoutL1(ctx context.Context, db *state.DB, p state.Project) (n int64, err error) {
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return 0, err
	}
	for _, s := range withoutL1(db, st) {
		n += s.Now().Size
	}
	return n, nil
}

// Refine computes the missing L1 of the sessions of a project, calls progress after each, and returns their number.
func Refine(ctx context.Context, db *state.DB, p state.Project, progress func(bytes int64)) (int, error) {
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return 0, err
	}
	var todo []capture.Added
	for _, s := range withoutL1(db, st) {
		todo = append(todo, capture.Added{Session: s.ID, Project: p, Now: s.Now().Snapshot})
	}
	if err := derive.CacheL1(ctx, db, todo, progress); err != nil {
		return 0, fmt.Errorf("refine: %w", err)
	}
	return len(todo), nil
}
