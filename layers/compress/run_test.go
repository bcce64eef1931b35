package compress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/compress/anchors"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
)

var nouns = strings.Fields("parser cache index lock budget session branch commit retry queue schema token buffer window handler migration timeout digest ledger segment")
var verbs = strings.Fields("rejects drops rewrites holds misses doubles checks opens closes renames merges splits counts keeps loses")

// session makes a made-up session of about n messages, with n/10 marks, the same for the same seed.
func session(seed int64, n int) ([]Item, Stats, []Mark) {
	r := rand.New(rand.NewSource(seed))
	pick := func(list []string) string { return list[r.Intn(len(list))] }
	sentence := func() string {
		return fmt.Sprintf("The %s %s the %s when `%s%s` is called in %s.go, see #%d.", pick(nouns), pick(verbs), pick(nouns), pick(nouns), strings.ToUpper(pick(nouns)[:1])+pick(nouns), pick(nouns), r.Intn(900))
	}
	para := func(k int) string {
		var s []string
		for range 1 + r.Intn(k) {
			s = append(s, sentence())
		}
		return strings.Join(s, " ")
	}
	var items []Item
	var st Stats
	var marks []Mark
	x := 1
	for i := 1; i <= n; i++ {
		var it Item
		switch r.Intn(8) {
		case 0:
			it = Item{Kind: User, Text: "Please make sure that " + para(3)}
			if r.Intn(2) == 0 {
				it.Text += fmt.Sprintf("\n##keepit0.%02d##Decided: %s\n  keep  %d  spaces##/keepit## and go on: %s", r.Intn(100), sentence(), i, sentence())
			}
		case 1, 2:
			it = Item{Kind: Assistant, Text: para(6) + "\n\n- " + sentence() + "\n- 決定：" + pick(nouns) + "を使う。", Closing: r.Intn(2) == 0}
		case 3:
			it = Item{Kind: Edit, Target: "internal/" + pick(nouns) + "/" + pick(nouns) + ".go", Text: pick(nouns) + "Of " + pick(nouns) + "_max"}
		case 4:
			it = Item{Kind: Command, Text: "go test ./" + pick(nouns) + " -run Test" + pick(nouns), Label: "exit 1"}
		case 5:
			it = Item{Kind: Failure, Label: "go test ./...", Text: "--- FAIL: Test_" + pick(nouns) + " (0.01s)\nundefined: " + pick(nouns)}
		case 6:
			it = Item{Kind: Recap, Label: "report of an agent: look", Text: strings.Repeat(sentence()+"\n", 1+r.Intn(20))}
		default:
			it = Item{Kind: Call, Text: "Read " + pick(nouns) + ".go"}
		}
		if it.Kind == User {
			x = i
		}
		it.N, it.X, it.Time = i, x, "2026-02-11T15:39:00Z"
		if it.Kind == User {
			marks = append(marks, Marks(i, it.Text)...)
		}
		items = append(items, it)
		st.Messages = append(st.Messages, Message{First: i, Last: i, Raw: tokens.Raw(it.Text) * 4})
	}
	return items, st, marks
}

// notShort skips a test in a short run, which is that of the race detector: the other tests meet the same goroutines.
func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("the others meet the same goroutines")
	}
}

func TestBudgetIsKept(t *testing.T) {
	notShort(t)
	t.Parallel()
	for seed := range int64(3) {
		items, st, marks := session(seed, 40+int(seed)*60)
		for _, model := range []string{"", "claude-opus-4-6"} {
			c := tokens.For(model)
			for n := 1; n < 2*c.Scale(st.Raw()); n = n*5/4 + 1 {
				p, _, err := Resolve(Settings{Tokens: n, Counter: c, Keepit: Ignore}, st, marks)
				if err != nil {
					t.Fatal(err)
				}
				r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
				if err != nil {
					t.Fatalf("seed %d, %d tokens: %v", seed, n, err)
				}
				if got := c.Count(Text(r.Segments)); got > n || got != r.Tokens {
					t.Fatalf("seed %d: %d tokens asked, %d returned, %d reported", seed, n, got, r.Tokens)
				}
				checkSegments(t, r, len(items))
				if all := c.Scale(st.Raw()) / 8; n > 150 && n < all && r.Tokens < n*7/10 {
					t.Errorf("seed %d: %d tokens asked, only %d used", seed, n, r.Tokens)
				}
			}
		}
	}
}

// TestBudgetsDownToThePins makes versions whose marks are all kept, of every budget from what these need: the
// budget is kept, and the texts are there, byte for byte and in order. Below, the error says what they need.
func TestBudgetsDownToThePins(t *testing.T) {
	notShort(t)
	t.Parallel()
	aggressive := keepit.Aggressive
	for seed := range int64(3) {
		items, st, marks := session(seed, 60)
		in := Input{Items: withDiffs(items)}
		c := tokens.For("")
		try := func(budget int) error {
			p, fates, err := Resolve(Settings{Tokens: budget, Counter: c, Keepit: PreserveAll, Level: &aggressive}, st, marks)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(context.Background(), in, p, Extract{})
			if err != nil {
				return err
			}
			if n := c.Count(Text(r.Segments)); n > budget {
				t.Fatalf("seed %d: %d tokens of %d", seed, n, budget)
			}
			kept := keptOf(r.Segments)
			if len(kept) != len(fates) || len(kept) == 0 {
				t.Fatalf("seed %d, %d tokens: %d texts of %d", seed, budget, len(kept), len(fates))
			}
			for i, f := range fates {
				if kept[i].Text != f.Mark.Text {
					t.Fatalf("seed %d, %d tokens: text %d is %q, want %q", seed, budget, i, kept[i].Text, f.Mark.Text)
				}
			}
			checkSegments(t, r, 60)
			return nil
		}
		var pins *PinError
		if err := try(1); !errors.As(err, &pins) {
			t.Fatalf("seed %d, 1 token: %v", seed, err)
		}
		need := pins.Need
		for budget := need - 3; budget < 3*need; budget += 1 + max(0, budget-need-60)/20 {
			if err := try(budget); (err == nil) != (budget >= need) || err != nil && !errors.As(err, &pins) {
				t.Errorf("seed %d, %d tokens where %d are needed: %v", seed, budget, need, err)
			}
		}
	}
}

func checkSegments(t *testing.T, r Result, last int) {
	t.Helper()
	back, err := Decode(r.Body)
	if err != nil || len(back) != len(r.Segments) {
		t.Fatalf("stored segments: %d of %d read back, %v", len(back), len(r.Segments), err)
	}
	for _, s := range r.Segments {
		if to := s.Src[len(s.Src)-1][1]; to > last || strings.TrimSpace(s.Text) == "" {
			t.Fatalf("bad segment %+v", s)
		}
	}
}

func TestKeptIsByteExact(t *testing.T) {
	notShort(t)
	t.Parallel()
	for seed := range int64(8) {
		items, st, marks := session(seed, 200)
		for _, s := range []Settings{{Ratio: 5, Distance: 3}, {Ratio: 20, Distance: 10}, {Preset: "standard", Distance: 4}, {Preset: "gentle", Keepit: PreserveAll}, {Ratio: 10, Skip: 50}} {
			p, fates, err := Resolve(s, st, marks)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
			var pins *PinError
			if errors.As(err, &pins) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			i := 0
			var kept []Segment
			for _, x := range r.Segments {
				if x.Keep != "" {
					kept = append(kept, x)
				} else if strings.Contains(x.Text, "##keepit") {
					t.Errorf("a tag is left in %q", x.Text)
				}
			}
			for _, f := range fates {
				if !f.Kept {
					continue
				}
				if i >= len(kept) || kept[i].Text != f.Mark.Text || kept[i].Keep != f.Mark.Weight.String() || kept[i].Src[0][0] != f.Mark.Message {
					t.Fatalf("seed %d, %+v: kept text %d is not %q", seed, s, i, f.Mark.Text)
				}
				if !strings.Contains(Text(r.Segments), f.Mark.Text) {
					t.Fatalf("%q is not in the rendered text", f.Mark.Text)
				}
				i++
			}
			if i != len(kept) {
				t.Errorf("%d kept segments, %d marks kept", len(kept), i)
			}
		}
	}
}

func TestPinsTooLarge(t *testing.T) {
	t.Parallel()
	items := []Item{{N: 1, Kind: User, Text: "##keepit1.00##" + strings.Repeat("never forget this ", 50)}}
	st := Stats{Messages: []Message{{First: 1, Last: 1, Raw: 200}}}
	p, _, err := Resolve(Settings{Tokens: 40}, st, Marks(1, items[0].Text))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(context.Background(), Input{Items: items}, p, Extract{})
	var pins *PinError
	if !errors.As(err, &pins) || len(pins.Pins) != 1 || pins.Budget != 40 || pins.Need <= 40 {
		t.Fatalf("%v, want a PinError", err)
	}
	if want := `1.00 in message 1 ("never forget this never forget this`; !strings.Contains(err.Error(), want) {
		t.Errorf("%q does not name the pin", err)
	}
	// one token more than it needs is enough
	p.Budget, p.Tiers[0].Budget = pins.Need, pins.Need
	if _, err := Run(context.Background(), Input{Items: items}, p, Extract{}); err != nil {
		t.Errorf("with the budget it needs: %v", err)
	}
}

func TestRunRejects(t *testing.T) {
	t.Parallel()
	items, st, _ := session(1, 30)
	good, _, err := Resolve(Settings{Ratio: 5}, st, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Plan){
		"engine":          func(p *Plan) { p.Engine = "other/1" },
		"tokenizer":       func(p *Plan) { p.Tokenizer = "words" },
		"no such message": func(p *Plan) { p.Kept = []Span{{Message: 99, Start: 0, End: 1}} },
		"no such bytes":   func(p *Plan) { p.Kept = []Span{{Message: 3, Start: 5, End: 1 << 20}} },
	} {
		p := good
		change(&p)
		if r, err := Run(context.Background(), Input{Items: items}, p, Extract{}); err == nil {
			t.Errorf("%s: Run succeeded with %d tokens", name, r.Tokens)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, Input{Items: items}, good, Extract{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

type chatty struct{}

func (chatty) ID() string { return "chatty" }
func (chatty) Summarize(context.Context, Request) (Summary, error) {
	return Summary{Segments: []Segment{{Role: "assistant", Text: strings.Repeat("too long ", 1000), Src: [][2]int{{1, 1}}}}}, nil
}

func TestEngineMustKeepTheBudget(t *testing.T) {
	t.Parallel()
	items, st, _ := session(1, 30)
	p, _, err := Resolve(Settings{Ratio: 50, Engine: chatty{}}, st, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), Input{Items: items}, p, chatty{}); err == nil || !strings.Contains(err.Error(), "chatty") {
		t.Errorf("Run = %v, want an error that names the engine", err)
	}
}

// The same input gives the same bytes: in many runs, on one processor and on many.
func TestSameBytes(t *testing.T) {
	items, st, marks := session(3, 150)
	in := Input{Items: withDiffs(items)}
	aggressive := keepit.Aggressive
	for _, s := range []Settings{{Preset: "standard"}, {Ratio: 6, Level: &aggressive}} {
		p, _, err := Resolve(s, st, marks)
		if err != nil {
			t.Fatal(err)
		}
		var first []byte
		for i := range 50 {
			old := runtime.GOMAXPROCS(1 + i%8)
			r, err := Run(context.Background(), in, p, Extract{})
			runtime.GOMAXPROCS(old)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = r.Body
			}
			if !bytes.Equal(first, r.Body) {
				t.Fatalf("%+v: run %d gives other bytes", s, i+1)
			}
		}
	}
}

// withDiffs gives edits their changed lines.
func withDiffs(items []Item) []Item {
	out := slices.Clone(items)
	for i := range out {
		if it := &out[i]; it.Kind == Edit {
			it.Line, it.Added, it.Removed = 90+it.N, 1, 1
			it.Diff = fmt.Sprintf("-\t\told%dLimit = 3\n+\t\tnew%dLimit := queue.Size(4)", it.N, it.N)
		}
	}
	return out
}

// Odd sessions give a sensible result. What took time with the square of their length would never end.
func TestHardInputs(t *testing.T) {
	notShort(t)
	t.Parallel()
	long := strings.Repeat("supercalifragilistic ", 100_000)
	for name, items := range map[string][]Item{
		"one message of 2 MB":      {{N: 1, Kind: User, Text: long}},
		"one word of 2 MB":         {{N: 1, Kind: Assistant, Text: strings.Repeat("x", 2<<20)}},
		"back-ticks":               {{N: 1, Kind: Assistant, Text: strings.Repeat("`", 1<<20)}},
		"one line of signs":        {{N: 1, Kind: User, Text: strings.Repeat("-_./#@", 1<<18)}},
		"Korean without a space":   {{N: 1, Kind: User, Text: strings.Repeat("데이터베이스를선택했다", 50_000)}},
		"only results of tools":    {{N: 1, Kind: Failure, Text: "exit status 1"}, {N: 2, Kind: Recap, Text: "b\nc"}},
		"the same line many times": {{N: 1, Kind: Assistant, Text: strings.Repeat("Running the tests again.\n", 50_000)}},
		"nothing":                  nil,
	} {
		st := Stats{Messages: []Message{{First: 1, Last: 2, Raw: 600_000}}}
		p, _, err := Resolve(Settings{Tokens: 500}, st, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if r.Tokens > 500 {
			t.Errorf("%s: %d tokens", name, r.Tokens)
		}
		if name == "one message of 2 MB" && r.Tokens == 0 {
			t.Errorf("%s: nothing is left", name)
		}
	}
}

func FuzzRun(f *testing.F) {
	f.Add("please fix\n##keepit1.00##this##/keepit## now", "I looked at `a/b.go`. 決定した。", "--- FAIL: TestX", 30)
	f.Add("```\n##keepit0.50##", "\xff\x00", "x", 3)
	f.Fuzz(func(t *testing.T, user, said, failed string, n int) {
		if n < 1 || n > 1<<20 {
			return
		}
		items := []Item{{N: 1, Kind: User, Text: user}, {N: 2, Kind: Assistant, Text: said, Closing: true}, {N: 3, Kind: Failure, Text: failed}, {N: 4, Kind: Edit, Target: failed, Text: said}}
		st := Stats{Messages: []Message{{First: 1, Last: 1, Raw: tokens.Raw(user)}, {First: 2, Last: 4, Raw: tokens.Raw(said) + 1}}}
		p, _, err := Resolve(Settings{Tokens: n}, st, Marks(1, user))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
		var pins *PinError
		if errors.As(err, &pins) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range p.Kept {
			if !strings.Contains(Text(r.Segments), user[k.Start:k.End]) {
				t.Fatalf("%q was not kept", user[k.Start:k.End])
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"role":"user","text":"a","src":[[1,2]],"keep":"0.80"}` + "\n"))
	f.Add([]byte(`{"role":"tool","text":"a","src":[]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		segs, err := Decode(b)
		if err != nil {
			return
		}
		out, err := Encode(segs)
		if err != nil {
			t.Fatalf("decoded %q but cannot encode it: %v", b, err)
		}
		again, err := Decode(out)
		if err != nil || len(again) != len(segs) {
			t.Fatalf("%q: %v", out, err)
		}
	})
}

func TestDecodeRejects(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`{"role":"system","text":"a","src":[[1,1]]}`, `{"role":"user","text":"a","src":[[2,1]]}`, `{"role":"user","text":"a","src":[[0,1]]}`,
		`{"role":"user","text":"a","src":[[3,3],[1,1]]}`, `{"role":"user","text":"a"}`, `{"role":"user","txt":"a","src":[[1,1]]}`, `{"role":`, `[]`,
		`{"role":"user","text":"a","src":[[1,1]],"keep":"0.8"}`} {
		if segs, err := Decode([]byte(s)); err == nil {
			t.Errorf("Decode(%s) = %+v, want an error", s, segs)
		}
	}
}

func TestAnchors(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"see internal/store/cache.go and `go test ./x`": "go test ./x,cache.go",
		"parseWeight HTTPServer max_size Plain word":    "parseWeight,HTTPServer,max_size",
		"fix #123 in ABC-45 at 9f2c61a, v1.2.3, 8080":   "#123,ABC-45,9f2c61a,v1.2.3,8080",
		"a.b e.g. 12 is it's":                           "",
	} {
		var got []string
		anchors.EachAnchor(in, func(a string) { got = append(got, a) })
		if g := strings.Join(got, ","); g != want {
			t.Errorf("anchors of %q = %q, want %q", in, g, want)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	for _, n := range []int{2_000, 10_000, 40_000} {
		items, st, marks := session(1, n)
		size := 0
		for _, it := range items {
			size += len(it.Text)
		}
		p, _, err := Resolve(Settings{Ratio: 30, Level: new(keepit.Level), Keepit: Ignore}, st, marks)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("L1=%dKB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Run(context.Background(), Input{Items: items}, p, Extract{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
