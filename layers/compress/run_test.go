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

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/version"
)

var nouns = strings.Fields("parser cache index lock budget session branch commit retry queue schema token buffer window handler migration timeout digest ledger segment")
var verbs = strings.Fields("rejects drops rewrites holds misses doubles checks opens closes renames merges splits counts keeps loses")

// session makes a made-up session of about n messages, with n/10 marks, the same for the same seed.
func session(seed int64, n int) ([]version.Item, planning.Stats, []planning.Mark) {
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
	var items []version.Item
	var st planning.Stats
	var marks []planning.Mark
	x := 1
	for i := 1; i <= n; i++ {
		var it version.Item
		switch r.Intn(8) {
		case 0:
			it = version.Item{Kind: version.User, Text: "Please make sure that " + para(3)}
			if r.Intn(2) == 0 {
				it.Text += fmt.Sprintf("\n##keepit0.%02d##Decided: %s\n  keep  %d  spaces##/keepit## and go on: %s", r.Intn(100), sentence(), i, sentence())
			}
		case 1, 2:
			it = version.Item{Kind: version.Assistant, Text: para(6) + "\n\n- " + sentence() + "\n- 決定：" + pick(nouns) + "を使う。", Closing: r.Intn(2) == 0}
		case 3:
			it = version.Item{Kind: version.Edit, Target: "internal/" + pick(nouns) + "/" + pick(nouns) + ".go", Text: pick(nouns) + "Of " + pick(nouns) + "_max"}
		case 4:
			it = version.Item{Kind: version.Command, Text: "go test ./" + pick(nouns) + " -run Test" + pick(nouns), Label: "exit 1"}
		case 5:
			it = version.Item{Kind: version.Failure, Label: "go test ./...", Text: "--- FAIL: Test_" + pick(nouns) + " (0.01s)\nundefined: " + pick(nouns)}
		case 6:
			it = version.Item{Kind: version.Recap, Label: "report of an agent: look", Text: strings.Repeat(sentence()+"\n", 1+r.Intn(20))}
		default:
			it = version.Item{Kind: version.Call, Text: "Read " + pick(nouns) + ".go"}
		}
		if it.Kind == version.User {
			x = i
		}
		it.N, it.X, it.Time = i, x, "2026-02-11T15:39:00Z"
		if it.Kind == version.User {
			marks = append(marks, planning.Marks(i, it.Text)...)
		}
		items = append(items, it)
		st.Messages = append(st.Messages, planning.Message{First: i, Last: i, Raw: tokens.Raw(it.Text) * 4})
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
			for n := 1; n < 2*c.Scale(st.Raw()); n = n*3/2 + 1 {
				p, _, err := planning.Resolve(planning.Settings{Tokens: n, Counter: c, Keepit: planning.Ignore}, st, marks)
				if err != nil {
					t.Fatal(err)
				}
				r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
				if err != nil {
					t.Fatalf("seed %d, %d tokens: %v", seed, n, err)
				}
				if got := c.Count(version.Text(r.Segments)); got > n || got != r.Tokens {
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
			p, fates, err := planning.Resolve(planning.Settings{Tokens: budget, Counter: c, Keepit: planning.PreserveAll, Level: &aggressive}, st, marks)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(context.Background(), in, p, Extract{})
			if err != nil {
				return err
			}
			if n := c.Count(version.Text(r.Segments)); n > budget {
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
		var pins *planning.PinError
		if err := try(1); !errors.As(err, &pins) {
			t.Fatalf("seed %d, 1 token: %v", seed, err)
		}
		need := pins.Need
		for budget := need - 3; budget < 3*need; budget += 1 + max(0, budget-need-30)/12 {
			if err := try(budget); (err == nil) != (budget >= need) || err != nil && !errors.As(err, &pins) {
				t.Errorf("seed %d, %d tokens where %d are needed: %v", seed, budget, need, err)
			}
		}
	}
}

func checkSegments(t *testing.T, r Result, last int) {
	t.Helper()
	back, err := version.Decode(r.Body)
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
		for _, s := range []planning.Settings{{Ratio: 5, Distance: 3}, {Ratio: 20, Distance: 10}, {Preset: "standard", Distance: 4}, {Preset: "gentle", Keepit: planning.PreserveAll}, {Ratio: 10, Skip: 50}} {
			p, fates, err := planning.Resolve(s, st, marks)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
			var pins *planning.PinError
			if errors.As(err, &pins) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			i := 0
			var kept []version.Segment
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
				if !strings.Contains(version.Text(r.Segments), f.Mark.Text) {
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
	items := []version.Item{{N: 1, Kind: version.User, Text: "##keepit1.00##" + strings.Repeat("never forget this ", 50)}}
	st := planning.Stats{Messages: []planning.Message{{First: 1, Last: 1, Raw: 200}}}
	p, _, err := planning.Resolve(planning.Settings{Tokens: 40}, st, planning.Marks(1, items[0].Text))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(context.Background(), Input{Items: items}, p, Extract{})
	var pins *planning.PinError
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
	good, _, err := planning.Resolve(planning.Settings{Ratio: 5}, st, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*planning.Plan){
		"engine":          func(p *planning.Plan) { p.Engine = "other/1" },
		"tokenizer":       func(p *planning.Plan) { p.Tokenizer = "words" },
		"no such message": func(p *planning.Plan) { p.Kept = []planning.Span{{Message: 99, Start: 0, End: 1}} },
		"no such bytes":   func(p *planning.Plan) { p.Kept = []planning.Span{{Message: 3, Start: 5, End: 1 << 20}} },
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
func (chatty) Summarize(context.Context, version.Request) (version.Summary, error) {
	return version.Summary{Segments: []version.Segment{{Role: "assistant", Text: strings.Repeat("too long ", 1000), Src: [][2]int{{1, 1}}}}}, nil
}

func TestEngineMustKeepTheBudget(t *testing.T) {
	t.Parallel()
	items, st, _ := session(1, 30)
	p, _, err := planning.Resolve(planning.Settings{Ratio: 50, Engine: chatty{}}, st, nil)
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
	for _, s := range []planning.Settings{{Preset: "standard"}, {Ratio: 6, Level: &aggressive}} {
		p, _, err := planning.Resolve(s, st, marks)
		if err != nil {
			t.Fatal(err)
		}
		var first []byte
		for i := range 16 {
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
func withDiffs(items []version.Item) []version.Item {
	out := slices.Clone(items)
	for i := range out {
		if it := &out[i]; it.Kind == version.Edit {
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
	for name, items := range map[string][]version.Item{
		"one message of 2 MB":      {{N: 1, Kind: version.User, Text: long}},
		"one word of 2 MB":         {{N: 1, Kind: version.Assistant, Text: strings.Repeat("x", 2<<20)}},
		"back-ticks":               {{N: 1, Kind: version.Assistant, Text: strings.Repeat("`", 1<<20)}},
		"one line of signs":        {{N: 1, Kind: version.User, Text: strings.Repeat("-_./#@", 1<<18)}},
		"Korean without a space":   {{N: 1, Kind: version.User, Text: strings.Repeat("데이터베이스를선택했다", 50_000)}},
		"only results of tools":    {{N: 1, Kind: version.Failure, Text: "exit status 1"}, {N: 2, Kind: version.Recap, Text: "b\nc"}},
		"the same line many times": {{N: 1, Kind: version.Assistant, Text: strings.Repeat("Running the tests again.\n", 50_000)}},
		"nothing":                  nil,
	} {
		st := planning.Stats{Messages: []planning.Message{{First: 1, Last: 2, Raw: 600_000}}}
		p, _, err := planning.Resolve(planning.Settings{Tokens: 500}, st, nil)
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
		items := []version.Item{{N: 1, Kind: version.User, Text: user}, {N: 2, Kind: version.Assistant, Text: said, Closing: true}, {N: 3, Kind: version.Failure, Text: failed}, {N: 4, Kind: version.Edit, Target: failed, Text: said}}
		st := planning.Stats{Messages: []planning.Message{{First: 1, Last: 1, Raw: tokens.Raw(user)}, {First: 2, Last: 4, Raw: tokens.Raw(said) + 1}}}
		p, _, err := planning.Resolve(planning.Settings{Tokens: n}, st, planning.Marks(1, user))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
		var pins *planning.PinError
		if errors.As(err, &pins) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range p.Kept {
			if !strings.Contains(version.Text(r.Segments), user[k.Start:k.End]) {
				t.Fatalf("%q was not kept", user[k.Start:k.End])
			}
		}
	})
}

func BenchmarkRun(b *testing.B) {
	for _, n := range []int{2_000, 10_000, 40_000} {
		items, st, marks := session(1, n)
		size := 0
		for _, it := range items {
			size += len(it.Text)
		}
		p, _, err := planning.Resolve(planning.Settings{Ratio: 30, Level: new(keepit.Level), Keepit: planning.Ignore}, st, marks)
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

// TestEngineGone holds that a plan of an engine that this program does not have is not carried out by another.
func TestEngineGone(t *testing.T) {
	t.Parallel()
	items, st, _ := session(5, 20)
	p, _, err := planning.Resolve(planning.Settings{Ratio: 3, Keepit: planning.Ignore, Counter: tokens.For("")}, st, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"extract/1", "extract/4", "extract/99"} {
		p.Engine = id
		if _, err := Run(context.Background(), Input{Items: items}, p, Extract{}); !errors.Is(err, ErrEngineGone) || !strings.Contains(err.Error(), id) {
			t.Errorf("%s: %v", id, err)
		}
		if !planning.IsExtract(id) {
			t.Errorf("%s is no engine without a model", id)
		}
	}
	if planning.IsExtract("claude/1") {
		t.Error("claude is an engine without a model")
	}
}

// TestSaidAsSaid holds that each line of a version is an unbroken piece of a line of the messages that its segment names, or such
// pieces in their order with " … " between them, or a list or a block behind its label.
func TestSaidAsSaid(t *testing.T) {
	notShort(t)
	t.Parallel()
	seen := map[string]int{}
	for seed := range int64(3) {
		items, st, _ := session(seed, 200)
		items = withDiffs(items)
		for i := range items {
			if items[i].Kind == version.User && items[i].N%4 == 0 {
				items[i].Text += " It must not round twice unless the tax office asks for it. Only then may you add a second step to it. Please tell me first."
			}
		}
		source := map[int]string{}
		for _, it := range items {
			source[it.N] += it.Text + "\n" + withoutTags(it.Text) + "\n" + it.Diff + "\n"
		}
		for _, s := range []planning.Settings{{Ratio: 3}, {Ratio: 10}, {Ratio: 20}, {Ratio: 50}, {Tokens: 60}, {Tokens: 25}, {Preset: "standard"}} {
			s.Keepit, s.Counter = planning.Ignore, tokens.For("")
			p, _, err := planning.Resolve(s, st, nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
			if err != nil {
				t.Fatal(err)
			}
			for _, seg := range r.Segments {
				if seg.Role == "heading" || seg.Remark() || seg.Label == "files" || seg.Label == "commands" || seg.Code == "diff" {
					seen[seg.Role+seg.Label]++
					continue
				}
				of := ""
				for _, r := range seg.Src {
					for n := r[0]; n <= r[1]; n++ {
						of += source[n]
					}
				}
				for line := range strings.SplitSeq(seg.Text, "\n") {
					kind := saidAs(line, of)
					if seen[kind]++; kind == "" || kind != "verbatim" && seg.Role == "user" && !seg.Partial {
						t.Errorf("seed %d, %+v: %q of %s is %q of %q", seed, s, line, seg.Role, kind, of)
					}
				}
			}
		}
	}
	for _, kind := range []string{"verbatim", "heading", "toolfiles", "toolcommands"} {
		if seen[kind] == 0 {
			t.Errorf("there is no %s: %v", kind, seen)
		}
	}
}

// TestMonotone holds that a version with a larger budget has everything that one with a smaller budget has.
func TestMonotone(t *testing.T) {
	notShort(t)
	t.Parallel()
	for seed := range int64(3) {
		items, st, _ := session(seed, 150)
		before := map[string]int{}
		for n := 100; n < 6000; n = n*5/4 + 1 {
			p, _, err := planning.Resolve(planning.Settings{Tokens: n, Level: new(keepit.Level), Keepit: planning.Ignore, Counter: tokens.For("")}, st, nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
			if err != nil {
				t.Fatal(err)
			}
			said := map[string]int{}
			for _, s := range r.Segments {
				if s.Label == "files" || s.Label == "commands" || s.Label == version.LeftTyped {
					continue // one line of many entries; a larger version has the words
				}
				if s.Role == "heading" { // the date is in the first of a day
					s.Text, _, _ = strings.Cut(s.Text, " · ")
				}
				for line := range strings.SplitSeq(s.Text, "\n") {
					if leftOut().MatchString(line) {
						continue // a larger version has the items
					}
					for piece := range strings.SplitSeq(line, gap) {
						said[piece]++
					}
				}
			}
			all := version.Text(r.Segments)
			for piece := range before {
				if !strings.Contains(all, piece) {
					t.Errorf("seed %d: %d tokens lack %q", seed, n, piece)
				}
			}
			before = said
		}
	}
}

func versionOf(t *testing.T, l1 string, budget int) string {
	t.Helper()
	items, err := Items(refine.Entries(strings.NewReader(strings.TrimLeft(l1, "\n"))), nil)
	if err != nil {
		t.Fatal(err)
	}
	last := items[len(items)-1].N
	r, err := Run(context.Background(), Input{Items: items}, planning.Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(),
		Budget: budget, Tiers: []planning.Part{{From: 1, To: last, Budget: budget, Level: 1}}}, Extract{})
	if err != nil {
		t.Fatal(err)
	}
	return version.Text(r.Segments)
}

const loginL1 = `
{"n":2,"ts":"2026-02-11T15:39:00Z","role":"user","text":"Why does the login fail?\n\nIt worked yesterday."}
{"n":3,"role":"assistant","text":"Let me look."}
{"n":4,"role":"tool","name":"Bash","cmd":"cd /src && go test ./login 2>&1 | tail","exit":1,"result":"--- FAIL: TestLogin\n    login_test.go:9: got 401"}
{"n":6,"role":"tool","name":"Edit","target":"login.go:12","diff":"-\treturn old\n+\treturn fresh\n+\t// tokens expire","symbols":["Token"],"result":"ok"}
{"n":7,"role":"tool","name":"Bash","cmd":"git push","result":"refused by the user"}
{"n":8,"role":"user","name":"refusal","text":"not yet","target":"Bash git push"}
{"n":9,"role":"tool","name":"Bash","cmd":"go test ./...","result":"ok"}
{"n":10,"ts":"2026-02-11T15:45:00Z","role":"assistant","text":"The token had expired.\n\n# Fix\n\nIt is read again:\n\n- in ` + "`login.go`" + `\n\n` + "```go\\nreturn fresh\\n```" + `"}
{"n":12,"ts":"2026-02-12T09:00:00Z","role":"user","text":"thanks"}
{"n":13,"role":"summary","name":"boundary"}
{"n":14,"role":"summary","text":"The login was fixed."}
{"n":15,"role":"assistant","text":"You are welcome."}
`

// TestDigest holds the form of a version.
func TestDigest(t *testing.T) {
	t.Parallel()
	want := `## #2 · Feb 11 15:39

> Why does the login fail?
> 
> It worked yesterday.

Let me look.

[failed go test ./login, then passed] --- FAIL: TestLogin

[changes login.go]

` + "```diff\n@@ 12 @@\n-\treturn old\n+\treturn fresh\n+\t// tokens expire\n```" + `

[refused by the user: git push]

> not yet

The token had expired.

**Fix**

It is read again:

- in ` + "`login.go`" + `

` + "```go\nreturn fresh\n```" + `

[files] login.go (+2 −1)

[commands] go test ./login → exit 1, then passed; go test ./...

## #12 · Feb 12 09:00

> thanks

You are welcome.

[at the end: changed, and no commit seen: login.go (#2)]
`
	if got := versionOf(t, loginL1, 4000); got != want {
		t.Errorf("the digest is\n%s\nwant\n%s", got, want)
	}
	small := versionOf(t, loginL1, 110)
	for _, s := range []string{"> Why does the login fail?", "The token had expired.", "> thanks", "You are welcome."} {
		if !strings.Contains(small, s) {
			t.Errorf("110 tokens lack %q:\n%s", s, small)
		}
	}
}

// TestRetold holds that the summary of a compaction stands in for exchanges that are not there, and only for those.
func TestRetold(t *testing.T) {
	t.Parallel()
	const said = `{"n":1,"role":"note","name":"command","text":"/clear"}
{"n":2,"role":"user","text":"How are the taxes of the cart rounded?"}
{"n":3,"role":"assistant","text":"They are rounded down for every line of the cart."}
{"n":9,"role":"summary","text":"Summary: the cart was examined."}
{"n":10,"role":"user","text":"Round the total of the cart only."}
{"n":11,"role":"assistant","text":"The total of the cart alone is rounded now."}
`
	for name, c := range map[string]struct {
		l1    string
		first int
		want  bool
	}{
		"all is there":          {said, 1, false},
		"of what was left out":  {said, 9, true},
		"in part left out":      {said, 3, true},
		"of another session":    {strings.Join(strings.Split(said, "\n")[3:], "\n"), 1, true},
		"of what is not copied": {strings.Join(strings.Split(said, "\n")[1:], "\n"), 1, false},
	} {
		items, err := Items(refine.Entries(strings.NewReader(c.l1)), nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := Run(t.Context(), Input{Items: items}, planning.Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: 1000,
			Tiers: []planning.Part{{From: c.first, To: 11, Budget: 1000, Level: 1}}}, Extract{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(version.Text(res.Segments), "the cart was examined"); got != c.want {
			t.Errorf("%s: the summary is there: %v, want %v", name, got, c.want)
		}
	}
}

// TestAsked holds that no answer is shown without what it answers, whatever the budget.
func TestAsked(t *testing.T) {
	t.Parallel()
	l1 := `
{"n":1,"role":"user","text":"Which store do we take for the queue?"}
{"n":2,"role":"assistant","text":"` + strings.Repeat("The queue is read from many places in the code. ", 12) + `\n\nShould I write the table first?"}
{"n":3,"role":"user","text":"yes please"}
{"n":4,"role":"user","name":"answer","text":"SQLite\nthe next release","dialog":[{"question":"Which store holds the jobs? It must be one that survives a restart.","answer":"SQLite"},{"question":"When does it ship?","answer":"the next release"}]}
{"n":5,"role":"tool","name":"ExitPlanMode","text":"# Plan: A table of jobs\n\nWrite the table.","result":"refused by the user"}
{"n":6,"role":"tool","name":"Edit","target":"jobs.go","diff":"+func Drain() {}","result":"refused by the user"}
{"n":7,"role":"user","name":"refusal","text":"call it Flush","target":"Edit jobs.go"}
{"n":8,"role":"assistant","text":"The table is written."}
{"n":9,"role":"user","text":"thanks, that is all for today"}
`
	for budget := 20; budget < 600; budget += 5 {
		got := versionOf(t, l1, budget)
		for answer, question := range map[string]string{
			"> yes please":       "Should I write the table first?",
			"> SQLite":           "[asked] Which store holds the jobs? It must be one that survives a restart.",
			"> the next release": "[asked] When does it ship?",
			"> call it Flush":    "[refused by the user: Edit jobs.go (+1 −0)]",
		} {
			if strings.Contains(got, answer) && !strings.Contains(got, question) {
				t.Errorf("%d tokens: %q without %q:\n%s", budget, answer, question, got)
			}
		}
	}
	got := versionOf(t, l1, 600)
	for _, want := range []string{"[plan \"A table of jobs\", not accepted yet by the user] Write the table.", "[no answer in words: nothing followed]"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q:\n%s", want, got)
		}
	}
}

// TestNumberedAnswers holds that answers with numbers stand with the questions of these numbers, and that a numbered request does not
// bring a list that asks nothing.
func TestNumberedAnswers(t *testing.T) {
	t.Parallel()
	const list = `1. **Depth**: How far back do we look for jobs of the queue?\n2. **Branches**: One row for each branch, or for all of them?`
	said := func(list string) string {
		return `
{"n":1,"role":"user","text":"Design the list of jobs in the queue."}
{"n":2,"role":"assistant","text":"The list shows the jobs.\n\n` + list + `\n\n` + strings.Repeat("The list reads the table once and keeps its rows in memory. ", 30) + `"}
{"n":3,"role":"user","text":"1. fifty, since no one looks at older ones than that, and the table would be slow\n2. one for all of them together, we do not work with so many branches at the same time"}
{"n":4,"role":"assistant","text":"Both are in the design of the list now."}
`
	}
	if got := versionOf(t, said(list), 170); !strings.Contains(got, "How far back") || !strings.Contains(got, "for all of them?") {
		t.Errorf("the questions are left out:\n%s", got)
	}
	if got := versionOf(t, said(strings.NewReplacer("?", ".", "How far", "This far").Replace(list)), 170); strings.Contains(got, "This far") {
		t.Errorf("a list that asks nothing is there:\n%s", got)
	}
}

// TestAnswered holds that the options stand with the text of the user that chooses from them by number or letter, and
// that pasted text has its mark.
func TestAnswered(t *testing.T) {
	t.Parallel()
	l1 := `
{"n":1,"role":"user","text":"How do we store the jobs of the queue?"}
{"n":2,"role":"assistant","text":"` + strings.Repeat("The queue is read from many places in the code. ", 30) + `\n\nThere are three ways:\n\n1. A table in SQLite\n2. A file of JSON lines\n3. Redis\n\n` +
		strings.Repeat("Each of them costs something that we do not know yet. ", 30) + `"}
{"n":3,"role":"user","text":"do 2 and 3"}
{"n":4,"role":"assistant","text":"Both are written and tested now."}
{"n":5,"role":"user","text":"The function ` + "`drain`" + ` discards the error of the last write. A job that could not be written is lost in silence. Consider a return value, so that callers in queue.go can write it once more when the disk has room again."}
{"n":6,"role":"assistant","text":"It returns the error now, and queue.go tries three times."}
`
	got := versionOf(t, l1, 255)
	for _, want := range []string{"> do 2 and 3", "There are three ways:", "2. A file of JSON lines", "3. Redis",
		"[reads like pasted text]\n> The function `drain` discards"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q:\n%s", want, got)
		}
	}
}

// TestAnnouncements holds that the announcements of steps come after all else that was said, and before code.
func TestAnnouncements(t *testing.T) {
	t.Parallel()
	l1 := `
{"n":1,"role":"user","text":"Why does the queue lose the jobs of the night?"}
{"n":2,"role":"assistant","text":"Let me check how the queue is written to the disk of the server."}
{"n":3,"role":"tool","name":"Edit","target":"jobs.go","diff":"+func Drain() {\n+\tflush(queue)\n+\tclose(queue)\n+}"}
{"n":4,"role":"assistant","text":"Let me read the log of the night before."}
{"n":5,"role":"assistant","text":"The reason was a second writer that nobody knew of. It began to write after midnight, and its jobs replaced all those of the evening."}
`
	all, none := false, false
	for budget := 40; budget < 300; budget += 3 {
		got := versionOf(t, l1, budget)
		first, second := strings.Contains(got, "Let me check how"), strings.Contains(got, "Let me read the log")
		if (first || second) && !strings.Contains(got, "those of the evening.") || strings.Contains(got, "[changes") && budget > 200 && !(first && second) {
			t.Errorf("%d tokens:\n%s", budget, got)
		}
		all, none = all || first, none || !first && strings.Contains(got, "those of the evening.")
	}
	if !all || !none {
		t.Errorf("with announcements: %v, without: %v", all, none)
	}
}

// TestAggressiveBlocks holds that a long diagram comes after everything that is said at the aggressive level.
func TestAggressiveBlocks(t *testing.T) {
	t.Parallel()
	l1 := `{"n":1,"role":"user","text":"Can the queue lose a job?"}
{"n":2,"role":"assistant","text":"Yes, the queue can lose a job at night.\n\n**The scenario**\n\n` + "```" + `\n` + strings.Repeat("1. the writer holds drain.go -> the table waits\\n", 8) + "```" + `\n\n**The fix**\n\n` + strings.Repeat("The writer must give the lock of drain.go back, because the table waits for it. ", 3) + `"}
`
	items, err := Items(refine.Entries(strings.NewReader(l1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for level, want := range map[keepit.Level]bool{keepit.Moderate: true, keepit.Aggressive: false} {
		r, err := Run(t.Context(), Input{Items: items}, planning.Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: 320,
			Tiers: []planning.Part{{From: 1, To: 2, Budget: 320, Level: level}}}, Extract{})
		if err != nil {
			t.Fatal(err)
		}
		if got := version.Text(r.Segments); strings.Contains(got, "table waits\n") != want || !want && !strings.Contains(got, "waits for it.") {
			t.Errorf("level %v:\n%s", level, got)
		}
	}
}

// TestAggressive holds what a version at the aggressive level says of a plan, an agent and the steps, however much room
// there is, and that the first answer to a question is there before all else.
func TestAggressive(t *testing.T) {
	t.Parallel()
	l1 := `
{"n":1,"role":"user","text":"Can the queue be drained before the release?"}
{"n":2,"role":"assistant","text":"Yes, Drain waits for the last job of the night. Let me write it down:"}
{"n":3,"role":"note","name":"plan","text":"# Context\n\n` + strings.Repeat("The queue loses jobs when the server stops. ", 16) + `\n\n## Drain\n\nDrain stops the readers first. Then it waits for the writer of the table.\n\nSteps:\n1. **Stop readers** - ` +
		strings.Repeat("each of them gives its job back ", 6) + `\n2. **Flush** - ` + strings.Repeat("the writer ends its batch ", 8) + `"}
{"n":4,"role":"tool","name":"Task","target":"find readers","result":"There are nine readers in the code.<usage>tokens: 9</usage>"}
{"n":5,"role":"assistant","text":"Let me run the tests of the queue once more."}
{"n":6,"role":"tool","name":"Edit","target":"jobs.go","diff":"+func Drain() {\n+\tflush(queue)\n+\tclose(queue)\n+}"}
{"n":7,"role":"assistant","text":"All tests pass."}
`
	at := func(level keepit.Level, budget int) string {
		items, err := Items(refine.Entries(strings.NewReader(strings.TrimLeft(l1, "\n"))), nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(t.Context(), Input{Items: items}, planning.Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: budget,
			Tiers: []planning.Part{{From: 1, To: 7, Budget: budget, Level: level}}}, Extract{})
		if err != nil {
			t.Fatal(err)
		}
		return version.Text(r.Segments)
	}
	whole := []string{"Then it waits for the writer", "each of them gives its job back", "There are nine readers in the code.", "Let me run the tests", "Let me write it down:", "flush(queue)"}
	got := at(keepit.Moderate, 4000)
	for _, s := range whole {
		if !strings.Contains(got, s) {
			t.Errorf("moderate lacks %q:\n%s", s, got)
		}
	}
	got = at(keepit.Aggressive, 4000)
	for _, s := range whole {
		if is, want := strings.Contains(got, s), slices.Contains(whole[:2], s); is != want {
			t.Errorf("aggressive with much room has %q: %v:\n%s", s, is, got)
		}
	}
	got = at(keepit.Aggressive, 400)
	for _, s := range whole[1:] {
		if strings.Contains(got, s) {
			t.Errorf("aggressive has %q:\n%s", s, got)
		}
	}
	for _, s := range []string{"**Drain**\n\nDrain stops the readers first.", "All tests pass."} {
		if !strings.Contains(got, s) {
			t.Errorf("aggressive lacks %q:\n%s", s, got)
		}
	}
	if got = at(keepit.Aggressive, 75); !strings.Contains(got, "Yes, Drain waits for the last job of the night.") || !strings.Contains(got, "All tests pass.") {
		t.Errorf("75 tokens lack the answer:\n%s", got)
	}
	if strings.Contains(at(keepit.Minimal, 4000), "<usage>") {
		t.Error("what the client counted is there")
	}
}

// TestLists holds that a short list is shown whole or not at all, and that the end of what is shown of a long one is marked.
func TestLists(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := range 40 {
		fmt.Fprintf(&long, "- The handler %d of queue_%d.go retries when the lock is lost\\n", i, i)
	}
	l1 := `
{"n":1,"role":"user","text":"What are the options for the queue?"}
{"n":2,"role":"assistant","text":"There are three ways to do it.\n\n**Options:**\n\n1. SQLite, which we have\n2. Redis, which is faster\n3. A file, which is simplest\n\nThe handlers are these:\n\n` + long.String() + `\nI would take the first one."}
`
	whole, part := 0, 0
	for budget := 20; budget < 900; budget += 5 {
		got := versionOf(t, l1, budget)
		switch n := strings.Count(got, "SQLite, which") + strings.Count(got, "Redis, which") + strings.Count(got, "A file, which"); n {
		case 0:
			if strings.Contains(got, "Options") {
				t.Errorf("%d tokens: a heading without its list:\n%s", budget, got)
			}
		case 3:
			whole++
		default:
			t.Errorf("%d tokens: %d of 3 options:\n%s", budget, n, got)
		}
		n := strings.Count(got, "- The handler")
		mark := fmt.Sprintf("\n[%d more: The handler %d of queue_%d.go retries", 40-n, n, n)
		if n > 0 && n < 40 {
			part++
			if !strings.Contains(got, mark) || !strings.Contains(got, "- The handler 0 ") {
				t.Errorf("%d tokens: %d of 40 items without their first or %q:\n%s", budget, n, mark, got)
			}
		}
	}
	if whole == 0 || part == 0 {
		t.Log(versionOf(t, l1, 800))
		t.Errorf("%d versions with the short list, %d with a part of the long one", whole, part)
	}
}

// TestLeadIn holds that no text ends on words that only announce what is left out, and that an item of a list brings them with it.
func TestLeadIn(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("## Changes\\n\\nHere is what I did, in the order of the files:\\n")
	for i := range 30 {
		fmt.Fprintf(&b, "\\n- The handler number%dOf the `queue%d.go` retries because the lock of store_%d was lost.", i, i, i)
	}
	l1 := `{"n":1,"role":"user","text":"go on"}` + "\n" + `{"n":2,"role":"assistant","text":"` + b.String() + `"}` + "\n"
	for budget := 12; budget < 400; budget += 7 {
		got := versionOf(t, l1, budget)
		lines := strings.Split(strings.TrimSpace(got), "\n")
		if leadsIn(lines[len(lines)-1]) || strings.Contains(got, "- ") && !strings.Contains(got, "Here is what I did") {
			t.Errorf("%d tokens: %s", budget, got)
		}
	}
}

// TestMonotonousOutput: what a command printed, what starts agents and what the client writes never displaces a decision.
func TestMonotonousOutput(t *testing.T) {
	t.Parallel()
	var numbers strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&numbers, "%d\\n", i)
	}
	l1 := `{"n":1,"role":"user","text":"Which store do we take?\n\n` + "```\\n" + numbers.String() + "```" + `"}
{"n":2,"role":"tool","name":"Task","target":"` + strings.Repeat("Look at file_%d.go and list names. ", 40) + `","result":"ok"}
{"n":3,"role":"note","text":"Base directory for this skill: /x"}
{"n":4,"role":"assistant","text":"We take SQLite, because it needs no server."}
`
	got := versionOf(t, l1, 60)
	if !strings.Contains(got, "Which store") || !strings.Contains(got, "because it needs no server.") || strings.Contains(got, "Base directory") {
		t.Errorf("%s", got)
	}
}

// TestFencesBalanced holds that every block of code in a version ends in it, whatever was cut.
func TestFencesBalanced(t *testing.T) {
	t.Parallel()
	text := "Look:\\n\\n```go\\nfunc A() {}\\n```\\n\\nand\\n\\n````md\\n```\\nx\\n```\\n````\\n\\nthen the open one\\n\\n```\\nnever closed"
	l1 := `{"n":1,"role":"user","text":"` + text + `"}` + "\n" + `{"n":2,"role":"assistant","text":"` + text + `"}` + "\n"
	for budget := 10; budget < 200; budget++ {
		open := ""
		for line := range strings.SplitSeq(versionOf(t, l1, budget), "\n") {
			line = strings.TrimPrefix(line, "> ")
			switch {
			case open != "" && transcript.ClosesFence(line, open):
				open = ""
			case open == "" && strings.HasPrefix(line, "```"):
				open = transcript.FenceSign(line)
			}
		}
		if open != "" {
			t.Errorf("%d tokens: a block of code is open:\n%s", budget, versionOf(t, l1, budget))
		}
	}
}

// TestRequestAroundPaste checks that a version contains the request of a message with a long paste, at each ratio and in
// each order of the two.
func TestRequestAroundPaste(t *testing.T) {
	notShort(t)
	t.Parallel()
	var log, code strings.Builder
	for i := range 120 {
		fmt.Fprintf(&log, "2026-11-20T09:00:%02d ERROR worker[%d]: pkg/server/handler_%d.go:%d reset by peer latency=%dms\n",
			i%60, 1000+i, i%17, 3*i, 7*i)
		fmt.Fprintf(&code, "func handle%d(w http.ResponseWriter) error {\n\tif w == nil { return errMethod%d }\n}\n", i, i)
	}
	const first, second, third = "Please find out why the nightly import stalls after the second retry.",
		"Do not touch the billing module.", "Write a regression test first and keep the public API unchanged."
	pastes := map[string]string{"log": log.String(), "code": code.String(), "fence": "```go\n" + code.String() + "```\n"}
	for name, paste := range pastes {
		for _, typed := range []string{
			first + " " + second + "\n\n" + paste + "\n" + third,
			first + "\n" + paste + second + " " + third,
			paste + "\n" + first + " " + second + "\n" + third,
			first + "\n" + second + " " + third + "\n" + paste,
		} {
			items := []version.Item{{N: 1, Kind: version.User, Text: typed}}
			for i := 2; i < 40; i++ {
				items = append(items, version.Item{N: i, Kind: version.Assistant, Text: fmt.Sprintf(
					"The cause in `pkg/server/handler_%d.go` is the pool of service %d, which slow readers exhaust.", i, i)})
			}
			for _, budget := range []int{100, 200, 400, 1000} {
				p := planning.Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: budget,
					Tiers: []planning.Part{{From: 1, To: 40, Budget: budget, Level: 2}}}
				r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
				if err != nil {
					t.Fatal(err)
				}
				text := version.Text(r.Segments)
				for _, want := range []string{first, second, third} {
					if !strings.Contains(text, want) {
						t.Errorf("%s of %d bytes, %d tokens: %q is missing in\n%s", name, len(paste), budget, want, text)
					}
				}
			}
		}
	}
}

// saidAs tells how a line repeats a source: verbatim, cut, or "" if it does not.
func saidAs(line, source string) string {
	line = strings.TrimLeft(strings.TrimPrefix(singleSpaced(line), "$ "), "+-")
	source = singleSpaced(source)
	if strings.Contains(source, strings.TrimSpace(line)) || line == version.LeftOut {
		return "verbatim"
	}
	if !strings.Contains(line, "…") {
		return ""
	}
	for piece := range strings.SplitSeq(line, "…") {
		_, rest, ok := strings.Cut(source, strings.TrimSpace(piece))
		if !ok {
			return ""
		}
		source = rest
	}
	return "cut"
}
