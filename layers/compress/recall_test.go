package compress

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
)

// keptOf returns the kept segments, in order.
func keptOf(segs []version.Segment) []version.Segment {
	return slices.DeleteFunc(slices.Clone(segs), func(s version.Segment) bool { return s.Keep == "" })
}

// marksOf returns the marks that kept segments stand for, as a plan says where they are.
func marksOf(segs []version.Segment, spans []planning.Span) []planning.Mark {
	var out []planning.Mark
	for i, s := range keptOf(segs) {
		x := spans[i]
		out = append(out, planning.Mark{Message: x.Message, Marker: keepit.Marker{Weight: x.Weight, Start: x.Start, End: x.End, TextStart: x.Start, TextEnd: x.End, Text: s.Text}})
	}
	return out
}

// TestRecompressedTwentyTimes makes a version of a version, twenty times over: every pin stays as it is, in order; no
// budget is passed; every segment names messages that the one before named.
func TestRecompressedTwentyTimes(t *testing.T) {
	notShort(t)
	t.Parallel()
	for seed := range int64(3) {
		for _, mode := range []planning.KeepitMode{planning.Decay, planning.PreserveAll} {
			items, st, marks := session(seed, 250)
			for i := 0; i < len(marks); i += 3 {
				marks[i].Weight = keepit.Pinned
			}
			c := tokens.For("")
			in := Input{Items: items}
			var before Result
			var pinned []version.Segment
			budget := c.Scale(st.Raw()) / 4
			for n := range 21 {
				p, fates, err := planning.Resolve(planning.Settings{Tokens: budget, Counter: c, Keepit: mode, Distance: 1 + n/3}, st, marks)
				if err != nil {
					t.Fatal(err)
				}
				r, err := Run(context.Background(), in, p, Extract{})
				if err != nil {
					t.Fatalf("seed %d, %s, round %d: %v", seed, mode, n, err)
				}
				if got := c.Count(version.Text(r.Segments)); got > budget {
					t.Fatalf("seed %d, round %d: %d tokens of %d", seed, n, got, budget)
				}
				checkSegments(t, r, len(items))
				kept := keptOf(r.Segments)
				if len(kept) != len(p.Kept) || len(kept) != survivors(fates) {
					t.Fatalf("seed %d, round %d: %d texts kept, %d planned", seed, n, len(kept), len(p.Kept))
				}
				pins := slices.DeleteFunc(slices.Clone(kept), func(s version.Segment) bool { return s.Keep != "1.00" && mode == planning.Decay })
				if n == 0 {
					pinned = pins
				} else {
					checkNamed(t, before, r)
				}
				if fmt.Sprint(pins) != fmt.Sprint(pinned) || len(pins) == 0 {
					t.Fatalf("seed %d, %s, round %d: pins are %v, want %v", seed, mode, n, pins, pinned)
				}
				before, in = r, Input{Items: Recall(r.Segments)}
				marks = marksOf(r.Segments, p.Kept)
				if floor := c.Scale(version.Sizer{}.Size(kept)) + 40; budget*9/10 > floor {
					budget = budget * 9 / 10
				}
			}
		}
	}
}

func survivors(fates []planning.Fate) int {
	n := 0
	for _, f := range fates {
		if f.Kept {
			n++
		}
	}
	return n
}

// checkNamed checks that a version names only messages that the one it was made of names.
func checkNamed(t *testing.T, before, r Result) {
	t.Helper()
	known := map[int]bool{}
	for _, s := range before.Segments {
		for _, m := range s.Src {
			for n := m[0]; n <= m[1]; n++ {
				known[n] = true
			}
		}
	}
	for _, s := range r.Segments {
		for _, m := range s.Src {
			for n := m[0]; n <= m[1]; n++ {
				if !known[n] {
					t.Fatalf("%q names message %d, which its source does not", s.Text, n)
				}
			}
		}
	}
}

func TestRecall(t *testing.T) {
	t.Parallel()
	segs := []version.Segment{
		{Role: "user", Text: "fix the lock", Src: [][2]int{{1, 1}}},
		{Role: "user", Text: "never ##sleep##", Src: [][2]int{{1, 1}}, Keep: "0.80"},
		{Role: "assistant", Text: "Fixed.", Src: [][2]int{{4, 6}}},
		{Role: "tool", Label: "commands", Text: "go test ./... → exit 1", Src: [][2]int{{5, 5}}},
		{Role: "user", Text: "Then … once more.", Src: [][2]int{{5, 5}}, Partial: true},
		{Role: "tool", Label: "failed go test ./..., then passed", Text: "--- FAIL: TestLock", Src: [][2]int{{5, 5}}},
		{Role: "tool", Label: "changes lock.go", Code: "diff", Text: "@@ 3 @@\n-a\n+b", Src: [][2]int{{7, 7}}},
		{Role: "tool", Label: "files", Text: "lock.go (+3 −1); lock_test.go", Src: [][2]int{{3, 3}, {7, 7}}},
	}
	want := []struct {
		n    int
		kind version.Kind
		text string
	}{{1, version.Answer, "fix the lock"}, {1, version.User, "never ##sleep##"}, {3, version.Edit, "lock.go"}, {3, version.Edit, "lock_test.go"}, {4, version.Assistant, "Fixed."},
		{5, version.Command, "go test ./..."}, {5, version.Answer, "Then … once more."}, {5, version.Failure, "--- FAIL: TestLock"}, {7, version.Edit, "lock.go"}}
	got := Recall(segs)
	if len(got) != len(want) {
		t.Fatalf("%d items, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		if g := got[i]; g.N != w.n || g.Kind != w.kind || g.Text+g.Target != w.text || g.Kept != (w.kind == version.User) {
			t.Errorf("item %d is %+v, want %+v", i, g, w)
		}
	}
	if got[2].Sources()[1] != [2]int{7, 7} || got[4].Sources()[0] != [2]int{4, 6} {
		t.Errorf("the messages of items are %v and %v", got[2].Sources(), got[4].Sources())
	}

	// A plan for them must name the kept texts as they are.
	p := planning.Plan{Tiers: []planning.Part{{From: 1, To: 7}}, Kept: []planning.Span{{Message: 1, Start: 20, End: 35, Weight: 80}}}
	if _, pins, err := extractPins(Input{Items: got}, p); err != nil || len(pins) != 1 || pins[0].text != "never ##sleep##" {
		t.Errorf("pins are %v, %v", pins, err)
	}
	for _, wrong := range []planning.Span{{Message: 1, Start: 20, End: 34, Weight: 80}, {Message: 2, Start: 20, End: 35, Weight: 80}} {
		if _, _, err := extractPins(Input{Items: got}, planning.Plan{Kept: []planning.Span{wrong}}); err == nil {
			t.Errorf("a plan that keeps %+v is accepted", wrong)
		}
	}
}

// TestRecallOfSteps holds that the steps of a version are in a smaller one as they are, or not at all.
func TestRecallOfSteps(t *testing.T) {
	t.Parallel()
	const steps = "Let me look at the queue. … All 12 tests pass. Now add the log:"
	items := Recall([]version.Segment{{Role: "user", Text: "mend the queue", Src: [][2]int{{1, 1}}},
		{Role: "assistant", Label: version.Steps, Text: steps, Src: [][2]int{{2, 4}}},
		{Role: "assistant", Text: "The queue has two writers.", Src: [][2]int{{5, 5}}}})
	for level, want := range map[keepit.Level]string{keepit.Moderate: "[steps] " + steps + "\n\n", keepit.Aggressive: ""} {
		r, err := Run(t.Context(), Input{Items: items}, planning.Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: 400,
			Tiers: []planning.Part{{From: 1, To: 5, Budget: 400, Level: level}}}, Extract{})
		if err != nil {
			t.Fatal(err)
		}
		if got := version.Text(r.Segments); got != "> mend the queue\n\n"+want+"The queue has two writers.\n" {
			t.Errorf("level %v: %q", level, got)
		}
	}
}

// TestRecallOfPlan holds that the parts of a plan that are left out are counted in a version of a version, too.
func TestRecallOfPlan(t *testing.T) {
	t.Parallel()
	const parts = 8
	var plan strings.Builder
	for i := range parts {
		fmt.Fprintf(&plan, "\n\n## Part %d\n\nThe queue of writer %d waits until the table is free, and gives its job back.", i+1, i+1)
	}
	in := []version.Segment{{Role: "user", Text: "drain the queue", Src: [][2]int{{1, 1}}},
		{Role: "assistant", Label: `plan "Drain"`, Text: strings.TrimSpace(plan.String()), Src: [][2]int{{2, 2}}}}
	for _, budget := range []int{240, 200} {
		r, err := Run(t.Context(), Input{Items: Recall(in)}, planning.Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: budget,
			Tiers: []planning.Part{{From: 1, To: 2, Budget: budget, Level: keepit.Moderate}}}, Extract{})
		if err != nil {
			t.Fatal(err)
		}
		got := version.Text(r.Segments)
		shown, left := strings.Count(got, "**Part "), 0
		for i := range strings.Split(got, "[")[1:] {
			n, _, _ := strings.Cut(strings.Split(got, "[")[i+1], " more: ")
			if more, err := strconv.Atoi(n); err == nil {
				left += more
			}
		}
		if shown+left != parts || left == 0 {
			t.Errorf("%d tokens: %d parts shown, %d left out, of %d:\n%s", budget, shown, left, parts, got)
		}
		in = r.Segments
	}
}

func FuzzRecall(f *testing.F) {
	f.Add([]byte(`{"role":"user","text":"fix it","src":[[1,1]]}`+"\n"+`{"role":"tool","label":"files","text":"a.go (+1 −2); b.go: x, y","src":[[1,2],[4,4]]}`), 40)
	f.Add([]byte(`{"role":"user","text":"##keepit0.50##x","src":[[3,9]],"keep":"1.00"}`+"\n"+`{"role":"assistant","text":"","src":[[2,2]]}`), 9)
	f.Add([]byte(`{"role":"tool","text":"$ go test","src":[[1,1000000]]}`), 1)
	f.Fuzz(func(t *testing.T, body []byte, budget int) {
		segs, err := version.Decode(body)
		if err != nil || len(segs) == 0 || budget < 1 || budget > 1e6 {
			return
		}
		last := 0
		p := planning.Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: budget}
		items := Recall(segs)
		for _, it := range items {
			if last = max(last, it.N, it.To); last > 1<<20 {
				return // naming a million messages takes its time
			}
			if it.Kept {
				p.Kept = append(p.Kept, planning.Span{Message: it.N, Start: len(p.Kept) << 20, End: len(p.Kept)<<20 + len(it.Text), Weight: keepit.Pinned})
			}
		}
		p.Tiers = []planning.Part{{From: 1, To: last, Budget: budget, Level: keepit.Moderate}}
		r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
		if err != nil {
			var pins *planning.PinError
			if !errors.As(err, &pins) {
				t.Fatalf("%v", err)
			}
			return
		}
		if n := tokens.For("").Count(version.Text(r.Segments)); n > budget {
			t.Fatalf("%d tokens of %d", n, budget)
		}
		if kept := keptOf(r.Segments); len(kept) != len(p.Kept) {
			t.Fatalf("%d texts kept of %d", len(kept), len(p.Kept))
		}
		if again, err := Run(context.Background(), Input{Items: Recall(segs)}, p, Extract{}); err != nil || string(again.Body) != string(r.Body) {
			t.Fatalf("another text, %v", err)
		}
	})
}

// TestRecallOfEndlessRuns compresses segments that name more messages than any session has.
func TestRecallOfEndlessRuns(t *testing.T) {
	t.Parallel()
	items := Recall([]version.Segment{
		{Role: "assistant", Text: "The cache in auth/cache.go leaks.", Src: [][2]int{{1, 2}, {5, math.MaxInt}}},
		{Role: "user", Text: "Fix the cache in auth/cache.go, please.", Src: [][2]int{{6, 7}}},
	})
	st := planning.Stats{Messages: []planning.Message{{First: 1, Last: 1, Raw: 200}}}
	p, _, err := planning.Resolve(planning.Settings{Preset: "gentle", Counter: tokens.For("")}, st, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Engine = Extract{}.ID()
	res, err := Run(context.Background(), Input{Items: items}, p, Extract{})
	if want := math.MaxInt - 2; err != nil || res.Messages != want {
		t.Errorf("%d messages, %v, want %d", res.Messages, err, want)
	}
}
