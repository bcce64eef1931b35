package derive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

func tierOptions() derive.TierOptions {
	return derive.TierOptions{Policy: planning.Policy{
		WeeklyAfter: 7, MonthlyAfter: 30, WeeklyTokens: 1500, MonthlyTokens: 2500,
		CreateAfter: 7, CreatePreset: "standard", AggressiveAfter: 30, AggressivePreset: "aggressive", IntermediateAfter: 60,
	}}
}

// TestAgeing lets the sample sessions age for half a year, a day at a time and then as far back as undo goes: a second run
// never does anything, summaries are within their budgets and can be made again, and no byte of an original changes.
func TestAgeing(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	o := layerstest.TestOptions()
	o.Now = func() time.Time { return time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC) } // after the sessions
	m, sessions := layerstest.SampleSessionsOf(t, o)
	p := sessions[0].Project
	for _, s := range sessions {
		if s.Project.Name == "shop" {
			p = s.Project
		}
	}
	root := layerstest.OriginalsOf(t, m, p)
	before := layerstest.Looks(t, m, p)
	clock := time.Date(2026, 2, 12, 12, 0, 0, 0, time.UTC)
	m.Opts.Now = func() time.Time { return clock }
	made, hidden := map[string]bool{}, 0
	for range 20 {
		clock = clock.AddDate(0, 0, 9)
		did, err := derive.Tier(ctx, m.DB, p, tierOptions())
		if err != nil || len(did.Failed) > 0 {
			t.Fatalf("%v: %v, %v", clock, err, did.Failed)
		}
		for _, s := range did.Summaries {
			if s.Replaced && made[s.Label] && s.Age == planning.Monthly {
				t.Errorf("%v: %s was made anew although nothing has changed", clock, s.Label)
			}
			made[s.Label] = true
		}
		hidden += len(did.Hidden)
		again, err := derive.Tier(ctx, m.DB, p, tierOptions())
		if err != nil || !again.Empty() {
			t.Fatalf("%v: a second run: %v, %+v", clock, err, again)
		}
	}
	for _, label := range []string{"weekly-2026-W07", "monthly-2026-02", "monthly-2025-11", "monthly-2025-09"} {
		if !made[label] {
			t.Errorf("%s was never made; there were %v", label, made)
		}
	}
	if hidden == 0 {
		t.Error("nothing was ever hidden")
	}
	checkSummaries(t, m, p)
	if got := layerstest.OriginalsOf(t, m, p); got != root {
		t.Error("an original has changed")
	}
	if _, err := history.Undo(ctx, m.DB, p.ID, 1000, history.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := layerstest.Looks(t, m, p); got != before {
		t.Errorf("after undoing all it is\n%s\nwant\n%s", got, before)
	}
	if got := layerstest.OriginalsOf(t, m, p); got != root {
		t.Error("an original has changed by undoing")
	}
}

// TestTierLimit lets a project age a few versions at a time: it ends where one run does.
func TestTierLimit(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	m, sessions := layerstest.SampleSessions(t)
	var p state.Project
	for _, s := range sessions {
		if s.Project.Name == "shop" {
			p = s.Project
		}
	}
	m.Opts.Now = func() time.Time { return time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC) }
	o := tierOptions()
	o.MaxVersions = 2
	for left := -1; left != 0; {
		did, err := derive.Tier(ctx, m.DB, p, o)
		if err != nil || len(did.Compressed) == 0 || len(did.Compressed) > 2 || left >= 0 && did.Deferred >= left || (len(did.Summaries) > 0) != (did.Deferred == 0) {
			t.Fatalf("%d were left: %+v, %v", left, did, err)
		}
		left = did.Deferred
	}
	if did, err := derive.Tier(ctx, m.DB, p, tierOptions()); err != nil || !did.Empty() {
		t.Errorf("after that there is %+v, %v", did, err)
	}
}

// TestTierAtOnce lets several processes do the same: it is done once.
func TestTierAtOnce(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	m, sessions := layerstest.SampleSessions(t)
	p := sessions[len(sessions)-1].Project
	for _, s := range sessions {
		if s.Project.Name == "shop" {
			p = s.Project
		}
	}
	o := layerstest.TestOptions()
	o.Now = func() time.Time { return time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC) }
	o.LockTimeout = time.Minute
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			other, err := layers.Open(m.Refs.Dir(), o)
			if err != nil {
				t.Error(err)
				return
			}
			defer other.Close()
			if did, err := derive.Tier(ctx, other.DB, p, tierOptions()); err != nil || len(did.Failed) > 0 {
				t.Error(err, did.Failed)
			}
		})
	}
	wg.Wait()
	ops, err := history.Operations(ctx, m.DB, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, op := range ops {
		if op.Trailer("Op") == "tier" && strings.Contains(op.Subject, "hidden") {
			n++
		}
	}
	st, err := trust.State(ctx, m.DB, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]int{}
	for _, c := range st.Compositions {
		names[c.Name]++
	}
	for name, states := range names {
		if states != 1 {
			t.Errorf("%s was made %d times", name, states)
		}
	}
	if n != 1 {
		t.Errorf("it was done %d times", n)
	}
	labels := map[string]bool{}
	for _, v := range st.Versions {
		label := v.Session + ":" + v.Label
		if labels[label] || st.Made(v.Derivation.Key()) != v && !v.Deleted {
			t.Errorf("%s was made twice", label)
		}
		labels[label] = true
	}
}

// TestTierInTheMiddle ends the work in the middle: what was made is there, each version once, in one commit of each run.
func TestTierInTheMiddle(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	dir := t.TempDir()
	var sources []capture.Source
	const sessions = 30
	for i := range sessions {
		text := strings.Repeat(fmt.Sprintf("Question %d about the parser of the shop and what it does with prices. ", i), 60)
		sources = append(sources, layerstest.Write(t, filepath.Join(dir, fmt.Sprintf("s%03d-padding.jsonl", i)), fmt.Sprintf(
			`{"type":"user","uuid":"u%d","timestamp":"2026-01-02T10:00:00Z","cwd":"/home/dev/shop","sessionId":"s","message":{"role":"user","content":%q}}`+"\n", i, text)))
	}
	p := layerstest.Add(t, m, sources...)[0].Project
	o := tierOptions()
	o.Policy.WeeklyAfter, o.Policy.MonthlyAfter, o.Policy.AggressiveAfter, o.Policy.IntermediateAfter = 700, 800, 900, 900
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const made = 13
	o.Progress = func(done, of int) {
		if done == made {
			cancel()
		}
	}
	if _, err := derive.Tier(ctx, m.DB, p, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	count := func() (versions, commits int) {
		st, err := trust.State(context.Background(), m.DB, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		ops, err := history.Operations(context.Background(), m.DB, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range ops {
			if op.Trailer("Op") == "tier" {
				commits++
			}
		}
		return len(st.Versions), commits
	}
	if versions, commits := count(); versions != made || commits != 1 {
		t.Errorf("%d versions in %d commits, want %d in 1", versions, commits, made)
	}
	o.Progress = nil
	did, err := derive.Tier(context.Background(), m.DB, p, o)
	if err != nil || len(did.Compressed) != sessions-made || did.Compressed[0].Label != "v001" {
		t.Fatal(len(did.Compressed), err)
	}
	if versions, commits := count(); versions != sessions || commits != 2 {
		t.Errorf("%d versions in %d commits, want %d in 2", versions, commits, sessions)
	}
}

// An expiring context is done after some calls of Err.
type expiring struct {
	context.Context
	left int
}

func (c *expiring) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestTierCanceled ends the work at every point where it can end: what is committed is in the result.
func TestTierCanceled(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	text := strings.Repeat("A question about the parser of the shop and what it does with prices. ", 60)
	p := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(t.TempDir(), "canceled.jsonl"), fmt.Sprintf(
		`{"type":"user","uuid":"u","timestamp":"2026-01-02T10:00:00Z","cwd":"/home/dev/shop","sessionId":"s","message":{"role":"user","content":%q}}`+"\n", text)))[0].Project
	o := tierOptions()
	o.Policy.WeeklyAfter, o.Policy.MonthlyAfter, o.Policy.AggressiveAfter, o.Policy.IntermediateAfter = 700, 800, 900, 900
	for n := 0; ; n++ {
		did, err := derive.Tier(&expiring{ctx, n}, m.DB, p, o)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		st, stateErr := trust.State(ctx, m.DB, p.ID)
		if stateErr != nil {
			t.Fatal(stateErr)
		}
		if made := len(st.Versions); made != len(did.Compressed) {
			t.Fatalf("after %d calls of Err %d versions were saved and %d reported, %v", n, made, len(did.Compressed), err)
		} else if made == 1 {
			return
		} else if err == nil {
			t.Fatal("no version was saved")
		}
	}
}

// checkSummaries reads all summaries of a project.
func checkSummaries(t *testing.T, m *layers.Memory, p state.Project) {
	t.Helper()
	ctx := context.Background()
	st, err := trust.State(ctx, m.DB, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range st.Compositions {
		if c.Tier == "" {
			continue
		}
		rev := state.Rev{Kind: state.IsComposition, Project: p, Composition: c, Hash: c.Derivation.Output}
		text, err := provenance.Markdown(ctx, m.DB, rev)
		if err != nil {
			t.Fatal(err)
		}
		if n := markers.Counter(m.DB, st.Session(c.Parts[0].Session).Now()).Count(text); n > c.Budget {
			t.Errorf("%s has %d tokens of %d", c.Name, n, c.Budget)
		}
		a, err := provenance.Reproduce(ctx, m.DB, rev)
		if err != nil || a.Err != nil || !a.Identical {
			t.Errorf("%s made again: %v, %v, %s", c.Name, err, a.Err, a.Why)
		}
	}
	checked, err := repair.Check(ctx, m.DB, true)
	if err != nil || len(checked.Problems) > 0 {
		t.Errorf("check: %v, %v", err, checked.Problems)
	}
}

// TestAutoTier runs a schedule for three weeks, an hour at a time.
func TestAutoTier(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	p := state.Project{ID: "0123456789abcdef"}
	for _, tt := range []struct {
		schedule derive.TierSchedule
		want     int
	}{{derive.TierOff, 0}, {"", 0}, {derive.TierDaily, 22}, {derive.TierWeekly, 4}, {derive.TierAccess, 7 * 24 * 3}} {
		start := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC) // a Thursday
		o := tierOptions()
		o.Policy.WeeklyTokens += tt.want // another policy counts as not run yet
		ran := 0
		for hour := range 7 * 24 * 3 {
			now := start.Add(time.Duration(hour) * time.Hour)
			m.Opts.Now = func() time.Time { return now }
			_, did, err := derive.AutoTier(ctx, m.DB, p, tt.schedule, o)
			if err != nil {
				t.Fatal(err)
			}
			if did {
				ran++
			}
		}
		if ran != tt.want {
			t.Errorf("%q ran %d times, want %d", tt.schedule, ran, tt.want)
		}
	}
}

// TestReproduceForgedSummary reproduces summaries whose records do not fit their texts: that is an error of each.
func TestReproduceForgedSummary(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	s := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(t.TempDir(), "forged.jsonl"),
		`{"type":"user","uuid":"u","timestamp":"2026-01-02T10:00:00Z","cwd":"/home/dev/shop","sessionId":"s","message":{"role":"user","content":"Hello there."}}`+"\n"))[0]
	part := compose.Part{Session: s.Session, Version: "original", Hash: s.Now.Original}
	record := records.CompositionPart{Project: s.Project.ID, Session: s.Session, Label: "original", Output: s.Now.Original}
	good := planning.Plan{Engine: compress.Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: 500}
	bad := good
	bad.Budget = -5
	for name, tt := range map[string]struct {
		digests []planning.Plan
		parts   int // of the text
	}{
		"no digest":          {nil, 1},
		"parts without text": {[]planning.Plan{good}, 0},
		"negative budget":    {[]planning.Plan{bad}, 1},
	} {
		text := compose.Composition{Name: "weekly-2026-W01", Budget: 1000, Parts: slices.Repeat([]compose.Part{part}, tt.parts)}
		if err := text.Measure(tokens.For("")); err != nil {
			t.Fatal(err)
		}
		c := &records.Composition{Name: text.Name, Tier: "weekly", Budget: 1000, Counter: text.Counter, Parts: []records.CompositionPart{record}}
		var err error
		c.Derivation.Inputs = []objects.Hash{s.Now.Original}
		c.Derivation.Recipe, err = lineage.NewRecipe(derive.ComposeStep, derive.ComposeStepVersion, records.ComposePlan{Digests: tt.digests})
		if err == nil {
			err = m.Refs.Update(ctx, s.Project.ID, "forged", func(tx *refs.Tx) (err error) {
				if c.Derivation.Output, err = tx.Put(ctx, bytes.NewReader(text.Encode())); err == nil {
					_, err = tx.Add(records.KindComposition, c)
				}
				return err
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		rev := state.Rev{Kind: state.IsComposition, Project: s.Project, Composition: c, Hash: c.Derivation.Output}
		if got, err := provenance.Reproduce(ctx, m.DB, rev); err != nil || got.Err == nil {
			t.Errorf("%s: Reproduce = %v, %v, want an error of the composition", name, got.Err, err)
		}
	}
}

// TestSummaryOfMany: a summary is within its budget, the smallest sessions have no room, and pinned text is there to the byte,
// also if the budget must be raised for it.
func TestSummaryOfMany(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	dir := t.TempDir()
	const pin = "Never write to the ledger twice."
	line := func(session, n int, text string) string {
		return fmt.Sprintf(`{"type":"user","uuid":"u%d-%d","timestamp":"2025-10-%02dT10:%02d:00Z","cwd":"/home/dev/shop","sessionId":"s%03d","message":{"role":"user","content":%q}}`+"\n",
			session, n, session+1, n, session, text)
	}
	var sources []capture.Source
	for i := range 12 {
		var b strings.Builder
		for n := range 3 + 2*i {
			b.WriteString(line(i, n, fmt.Sprintf("Question %d.%d is why parser %d of the shop is slow.", i, n, i*n)))
		}
		if i == 0 {
			b.WriteString(line(i, 50, "##keepit1.00##"+pin+"##/keepit##"))
		}
		sources = append(sources, layerstest.Write(t, filepath.Join(dir, fmt.Sprintf("s%03d-many.jsonl", i)), b.String()))
	}
	p := layerstest.Add(t, m, sources...)[0].Project
	m.Opts.Now = func() time.Time { return time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC) }
	for budget, omitted := range map[int][2]int{10: {11, 11}, 1000: {1, 9}, 6000: {0, 0}} {
		o := tierOptions()
		o.Policy.CreateAfter, o.Policy.AggressiveAfter, o.Policy.MonthlyTokens = 0, 0, budget
		did, err := derive.Tier(ctx, m.DB, p, o)
		if err != nil || len(did.Failed) > 0 || len(did.Summaries) != 1 {
			t.Fatal(did, err)
		}
		st, err := trust.State(ctx, m.DB, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		c := st.Composition("monthly-2025-10")
		rev := state.Rev{Kind: state.IsComposition, Project: p, Composition: c, Hash: c.Derivation.Output}
		text, err := provenance.Markdown(ctx, m.DB, rev)
		if err != nil {
			t.Fatal(err)
		}
		n := did.Summaries[0].Omitted
		if !strings.Contains(text, "\n"+pin) || n < omitted[0] || n > omitted[1] || n+len(c.Parts) != 12 {
			t.Errorf("budget %d: %d parts, %d omitted:\n%s", budget, len(c.Parts), n, text)
		}
		if c.Tokens > c.Budget || (c.Budget > budget) != (budget == 10) {
			t.Errorf("budget %d: %d tokens of %d", budget, c.Tokens, c.Budget)
		}
		a, err := provenance.Reproduce(ctx, m.DB, rev)
		if err != nil || a.Err != nil || !a.Identical {
			t.Errorf("budget %d: made again: %v, %v, %s", budget, err, a.Err, a.Why)
		}
	}
}
