package derive_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A parrot is a model that repeats the first words of every message. Answer n breaks off if it is stuck there.
type parrot struct {
	asked int
	stuck int
	usage engines.Usage
}

func (p *parrot) ID() string { return "parrot m1" }

func (p *parrot) Ask(_ context.Context, q engines.Question) (engines.Answer, error) {
	a := engines.Answer{Model: "m1-2026", Usage: p.usage}
	if p.asked++; p.asked == p.stuck {
		return a, errors.New("the line is dead")
	}
	if a.Text = layerstest.Supported(q); a.Text != "" {
		return a, nil
	}
	key, _, _ := strings.Cut(q.Prompt[strings.Index(q.Prompt, "=== record ")+len("=== record "):], " ")
	type segment struct {
		Role     string `json:"role"`
		Messages []int  `json:"messages"`
		Text     string `json:"text"`
	}
	var segs []segment
	lines := strings.Split(q.Prompt, "\n")
	for i, l := range lines {
		var n int
		if _, err := fmt.Sscanf(l, key+" %d ", &n); err == nil && i+1 < len(lines) {
			segs = append(segs, segment{"user", []int{n}, strings.Join(strings.Fields(lines[i+1])[:2], " ")})
		}
	}
	b, err := json.Marshal(map[string]any{"segments": segs})
	a.Text = string(b)
	return a, err
}

func settingsBy(p *parrot) planning.Settings {
	return planning.Settings{Ratio: 3, Engine: engines.New(p, engines.Options{Window: 2000, Price: engines.Price{Input: 1e6, Output: 1e6}})}
}

func TestCompressByModel(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m, rev := layerstest.TalkMemory(t, 200, layerstest.NoCaps)
	p := &parrot{usage: engines.Usage{Input: 1000, Output: 100}}
	would, err := derive.Compress(ctx, m.DB, rev, settingsBy(p), true)
	if err != nil || p.asked != 0 || would.Receipt.Requests < 3 || would.Receipt.Usage.Micros == 0 {
		t.Fatalf("a dry run asked %d times and foresees %+v, %v", p.asked, would.Receipt, err)
	}
	c, err := derive.Compress(ctx, m.DB, rev, settingsBy(p), false)
	if err != nil {
		t.Fatal(err)
	}
	r := c.Version.Receipt
	if r.Requests != would.Receipt.Requests || p.asked != r.Requests || r.Usage.Input != 1000*r.Requests || r.Replaced != 0 {
		t.Errorf("receipt %+v, foreseen %+v", r, would.Receipt)
	}
	if c.Version.Engine != settingsBy(p).Engine.ID() || len(c.Version.Derivation.Witnesses) != 2*r.Requests {
		t.Errorf("engine %s, %d witnesses", c.Version.Engine, len(c.Version.Derivation.Witnesses))
	}
	if !strings.Contains(version.Text(c.Segments), "Never use channels in pkg/hot.") {
		t.Error("the pinned text is gone")
	}
	asked := p.asked
	again, err := derive.Compress(ctx, m.DB, rev, settingsBy(p), false)
	if err != nil || !again.Existed || p.asked != asked {
		t.Errorf("the same recipe was paid for twice: %v", err)
	}

	st, err := trust.State(ctx, m.DB, rev.Project.ID)
	if err != nil {
		t.Fatal(err)
	}
	v := st.Versions[0]
	if v.Receipt != r {
		t.Errorf("stored receipt %+v, want %+v", v.Receipt, r)
	}
	xs, err := derive.Recorded(ctx, m.DB, rev)
	if err != nil || len(xs) != r.Requests {
		t.Fatalf("%d exchanges, %v", len(xs), err)
	}
	for _, x := range xs {
		if strings.Contains(x.Question.Prompt, "channels") {
			t.Error("the pinned text was shown to the model")
		}
	}
	made, err := derive.Reproduce(ctx, m.DB, state.Rev{Kind: state.IsVersion, Project: rev.Project, Session: rev.Session, Version: v})
	if err != nil || objects.Sum(made) != v.Derivation.Output || p.asked != asked {
		t.Errorf("reproduced %q, %v", made, err)
	}
	replayed, err := derive.Compress(ctx, m.DB, rev, planning.Settings{Ratio: 3, Engine: engines.New(engines.NewReplay("", xs), engines.Options{Window: 2000})}, false)
	if err != nil || replayed.Version.Derivation.Output != c.Version.Derivation.Output || replayed.Version.Label != "v002" {
		t.Errorf("replayed as %v: %v", replayed.Version, err)
	}
	if sum, err := derive.CostToday(ctx, m.DB); err != nil || sum.Input != 1000*r.Requests || sum.Micros != int64(1100*r.Requests) {
		t.Errorf("today %+v, %v", sum, err)
	}
	check, err := repair.Check(ctx, m.DB, true)
	if err != nil || len(check.Problems) > 0 {
		t.Errorf("%v, %v", check.Problems, err)
	}
}

func TestReproduceExtract(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m, rev := layerstest.TalkMemory(t, 50, layerstest.NoCaps)
	c, err := derive.Compress(ctx, m.DB, rev, planning.Settings{Ratio: 3}, false)
	if err != nil {
		t.Fatal(err)
	}
	body, err := derive.Reproduce(ctx, m.DB, state.Rev{Kind: state.IsVersion, Project: rev.Project, Session: rev.Session, Version: c.Version})
	if err != nil || objects.Sum(body) != c.Version.Derivation.Output {
		t.Errorf("other bytes, %v", err)
	}
	if b, err := version.Encode(c.Segments); err != nil || !bytes.Equal(b, body) {
		t.Errorf("other bytes, %v", err)
	}
	if _, err := derive.Recorded(ctx, m.DB, rev); !errors.Is(err, derive.ErrNoWitnesses) {
		t.Errorf("Recorded: %v", err)
	}
}

// A cap ends a run with nothing half-written but what was spent.
func TestCaps(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		caps    state.Caps
		setting string
		asked   int
	}{
		"zero":    {state.Caps{}, "llm.maxTokensPerDay", 0},
		"tokens":  {state.Caps{Tokens: 30_000, Micros: -1}, "llm.maxTokensPerDay", 2},
		"dollars": {state.Caps{Tokens: -1, Micros: 30_000}, "llm.maxUSDPerDay", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, rev := layerstest.TalkMemory(t, 200, c.caps)
			p := &parrot{usage: engines.Usage{Input: 9000, Output: 1000}}
			_, err := derive.Compress(ctx, m.DB, rev, settingsBy(p), false)
			var over *state.CapError
			if !errors.Is(err, engines.ErrCap) || !errors.As(err, &over) || over.Setting != c.setting {
				t.Fatalf("got %v", err)
			}
			if p.asked != c.asked {
				t.Errorf("asked %d times, want %d", p.asked, c.asked)
			}
			st, err := trust.State(ctx, m.DB, rev.Project.ID)
			if err != nil || len(st.Versions) != 0 {
				t.Errorf("%d versions, %v", len(st.Versions), err)
			}
			costs, err := derive.Costs(ctx, m.DB)
			if err != nil || c.asked > 0 && (len(costs) != 1 || costs[0].Requests != c.asked || costs[0].Day != "2026-01-20" || costs[0].Model != "m1-2026") {
				t.Errorf("costs %+v, %v", costs, err)
			}
		})
	}
}

// What a broken answer cost is in the ledger, and another day has a cap of its own.
func TestLedger(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	now := layerstest.TestOptions().Now()
	m, rev := layerstest.TalkMemory(t, 200, state.Caps{Tokens: 30_000, Micros: -1}, func() time.Time { return now })
	p := &parrot{usage: engines.Usage{Input: 9000, Output: 1000, Micros: 5}, stuck: 2}
	if _, err := derive.Compress(ctx, m.DB, rev, settingsBy(p), false); err == nil || !strings.Contains(err.Error(), "the line is dead") {
		t.Fatalf("got %v", err)
	}
	now = now.Add(10 * time.Hour)
	if sum, err := derive.CostToday(ctx, m.DB); err != nil || sum != (engines.Usage{}) {
		t.Errorf("the next day has cost %+v, %v", sum, err)
	}
	k := &derive.Meter{M: m.DB, Caps: m.Opts.Caps, Project: rev.Project.ID, Session: "s1", Engine: "e"}
	if err := k.Spend(ctx, "m", engines.Usage{Input: 1}); err != nil {
		t.Fatal(err)
	}
	costs, err := derive.Costs(ctx, m.DB)
	if err != nil || len(costs) != 2 || costs[0].Requests != 2 || costs[0].Usage != (engines.Usage{Input: 18_000, Output: 2000, Micros: 10}) || costs[1].Day != "2026-01-21" {
		t.Errorf("%+v, %v", costs, err)
	}
	entries, err := history.Log(ctx, m.DB, refs.Home, 1)
	if err != nil || !strings.HasPrefix(entries[0].Subject, "cost s1") {
		t.Errorf("%+v, %v", entries, err)
	}
}

// TestComposeEstimate: an estimate counts the requests of every part, also after a part that needs no model.
func TestComposeEstimate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m, rev := layerstest.TalkMemory(t, 200, layerstest.NoCaps)
	var b strings.Builder
	for i := 1; i <= 200; i++ {
		b.WriteString(layerstest.UserLine(1000+i, fmt.Sprintf("Question%d is why the report of week %d lacks the region of store %d.", i, i, i)))
	}
	layerstest.Add(t, m, layerstest.Write(t, filepath.Join(t.TempDir(), "s2.jsonl"), b.String()))
	st, err := trust.State(ctx, m.DB, rev.Project.ID)
	if err != nil || len(st.Sessions) != 2 {
		t.Fatalf("%d sessions, %v", len(st.Sessions), err)
	}
	other := rev
	other.Session = st.Sessions[1]
	p := &parrot{usage: engines.Usage{Input: 1000, Output: 100}}
	for _, extracted := range []string{"", st.Sessions[0].ID, st.Sessions[1].ID} {
		done, err := derive.Compose(ctx, m.DB, derive.ComposeRequest{Project: rev.Project, Name: "both", Budget: 2000, DryRun: true,
			Parts: []derive.ComposePart{{Rev: rev}, {Rev: other}},
			Engine: func(_ context.Context, part state.Rev) (version.Summarizer, error) {
				if part.Session.ID == extracted {
					return nil, nil
				}
				return settingsBy(p).Engine, nil
			}})
		if err != nil || done.Receipt.Requests == 0 || p.asked > 0 {
			t.Errorf("with %q by extract: estimate %+v, %d requests, %v", extracted, done.Receipt, p.asked, err)
		}
	}
}
