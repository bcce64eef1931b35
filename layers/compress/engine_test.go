package compress

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/compress/anchors"
	"github.com/memvcs/mem/layers/tokens"
)

// TestEngineGone holds that a plan of an engine that this program does not have is not carried out by another.
func TestEngineGone(t *testing.T) {
	t.Parallel()
	items, st, _ := session(5, 20)
	p, _, err := Resolve(Settings{Ratio: 3, Keepit: Ignore, Counter: tokens.For("")}, st, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"extract/1", "extract/4", "extract/99"} {
		p.Engine = id
		if _, err := Run(context.Background(), Input{Items: items}, p, Extract{}); !errors.Is(err, ErrEngineGone) || !strings.Contains(err.Error(), id) {
			t.Errorf("%s: %v", id, err)
		}
		if !IsExtract(id) {
			t.Errorf("%s is no engine without a model", id)
		}
	}
	if IsExtract("claude/1") {
		t.Error("claude is an engine without a model")
	}
}

// TestEvenLetters asks for versions that are nine tenths to all of a budget of letters, four for a token, as a program does that
// cannot count tokens: at most three times, each time for what the answer before tells. Most budgets are met: sentences are not cut to fill them.
func TestEvenLetters(t *testing.T) {
	notShort(t)
	t.Parallel()
	missed, budgets := 0, 0
	for seed := range int64(2) {
		items, st, marks := session(seed, 60+120*int(seed))
		ask := func(n int) float64 {
			p, _, err := Resolve(Settings{Tokens: n, Counter: tokens.For(""), Keepit: Ignore}, st, marks)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
			if err != nil {
				t.Fatal(err)
			}
			return float64(utf8.RuneCountInString(Text(r.Segments))) / 4
		}
		for budget := 16; budget <= 320; budget += 3 {
			budgets++
			next, met := budget*9/10, false
			for range 3 {
				got := ask(next)
				if met = got <= float64(budget) && got >= .9*float64(budget); met || got == 0 {
					break
				}
				next = int(float64(next) * .97 * float64(budget) / got)
			}
			if !met {
				missed++
			}
		}
	}
	t.Logf("missed %d of %d", missed, budgets)
	if missed*8 > budgets {
		t.Errorf("of %d budgets %d are missed", budgets, missed)
	}
}

// TestNear holds what the engine reads where a good part fits: the changed lines and what tools returned, as they are
// but for line numbers, and only at the aggressive level.
func TestNear(t *testing.T) {
	t.Parallel()
	var items []Item
	for i := 1; i <= 40; i++ {
		items = append(items, Item{N: i, Kind: Assistant, Text: fmt.Sprintf("The helper number %d reads the list and then it writes the list once more for the caller.", i)},
			Item{N: i, Kind: Diff, Text: fmt.Sprintf("+	if basket.SumOf(line%dCents) == nil {", i)})
	}
	returned := []Item{{N: 3, Kind: Output, Text: "   12→	return the.WholeSum(of, the)\n   13→\n   14→	}"}}
	run := func(budget int, l Level) string {
		t.Helper()
		r, err := Run(context.Background(), Input{Items: items, Output: outputs(returned)}, Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: budget, Tiers: []Part{{From: 1, To: 40, Budget: budget, Level: l}}}, Extract{})
		if err != nil {
			t.Fatal(err)
		}
		return Text(r.Segments)
	}
	got := run(1000, 2)
	for _, want := range []string{"+if basket.SumOf(line7Cents) == nil {\n", "return the.WholeSum(of, the)\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "→") {
		t.Errorf("line numbers of the client in\n%s", got)
	}
	if got := run(600, 1); strings.Contains(got, "SumOf") {
		t.Errorf("the moderate level reads changed lines that its text has no room for:\n%s", got)
	}
	if got := run(60, 2); strings.Contains(got, "SumOf") {
		t.Errorf("changed lines where not even what was said fits:\n%s", got)
	}
}

// TestShortCommand holds what is taken off the ends of commands, and that nothing is taken out of their middle.
func TestShortCommand(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"$ cd /home/dev/shop && go test ./... 2>&1 | tail -20": "$ go test ./...",
		"$ go vet ./cart/price/sum.go | head -3 -> exit 1":     "$ go vet ./cart/price/sum.go -> exit 1",
		"$ cat a.txt | tail -5 | sort":                         "$ cat a.txt | tail -5 | sort",
		"$ rm -f x || true":                                    "$ rm -f x",
		"$ make 2>&1 | tee log":                                "$ make 2>&1 | tee log",
		"$ a || true && b":                                     "$ a || true && b",
		"$ cd a; cd b && ls":                                   "$ cd a; cd b && ls",
		`$ echo "a | head b"`:                                  `$ echo "a | head b"`,
		"":                                                     "",
	} {
		if got := anchors.ShortCommand(in); got != want {
			t.Errorf("ShortCommand(%q) = %q, want %q", in, got, want)
		}
	}
	if got := bareLine(Diff, "+\t\tx := 1"); got != "+x := 1" {
		t.Errorf("a changed line is %q", got)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	var got []string
	anchors.EachName("call cart.SumOf(line.Cents), see a.b, cart/sum.go, v1.2, Cart..Sum and x-y/price.Parse. e.g. A.", func(s string) { got = append(got, s) })
	if fmt.Sprint(got) != "[cart.SumOf line.Cents price.Parse]" {
		t.Errorf("names = %q", got)
	}
	for in, want := range map[string]bool{"return": true, "+\t}, 100)": true, "-\t\t.get(id);": true, "+\treturn total": false, "合計": false, "": true} {
		if got := bare(in); got != want {
			t.Errorf("bare(%q) = %v", in, got)
		}
	}
	for in, want := range map[string]string{"12→\tx": "x", "12→": "", "→x": "→x", "12 x": "12 x", "": ""} {
		if got := anchors.Unnumbered(in); got != want {
			t.Errorf("unnumbered(%q) = %q, want %q", in, got, want)
		}
	}
}

// outputs is an [Input.Output] of a list.
func outputs(items []Item) func(ctx context.Context, from, to int) iter.Seq2[Item, error] {
	return func(_ context.Context, from, to int) iter.Seq2[Item, error] {
		return func(yield func(Item, error) bool) {
			for _, it := range items {
				if from <= it.N && it.N <= to && !yield(it, nil) {
					return
				}
			}
		}
	}
}

// TestSaidAsSaid holds that each line of a version is an unbroken piece of a line of the messages that its segment names, or such
// pieces in their order with " … " between them, or a list of names behind its mark, and that lists are at most a fifth of it.
func TestSaidAsSaid(t *testing.T) {
	notShort(t)
	t.Parallel()
	seen := map[string]int{}
	for seed := range int64(3) {
		items, st, _ := session(seed, 200)
		items = withDiffs(items)
		source := map[int]string{}
		for _, it := range items {
			if it.Kind == User && it.N%4 == 0 {
				it.Text += " It must not round twice unless the tax office asks for it. Only then may you add a second step to it. Please tell me first."
			}
			source[it.N] += it.Text + "\n" + withoutTags(it.Text) + "\n"
		}
		for i := range items {
			if items[i].Kind == User && items[i].N%4 == 0 {
				items[i].Text += " It must not round twice unless the tax office asks for it. Only then may you add a second step to it. Please tell me first."
			}
		}
		for _, s := range []Settings{{Ratio: 3}, {Ratio: 10}, {Ratio: 20}, {Ratio: 50}, {Tokens: 60}, {Tokens: 25}, {Preset: "standard"}} {
			s.Keepit, s.Counter = Ignore, tokens.For("")
			p, _, err := Resolve(s, st, nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(context.Background(), Input{Items: items, Output: outputs(items)}, p, Extract{})
			if err != nil {
				t.Fatal(err)
			}
			names := 0
			for _, seg := range r.Segments {
				if _, _, ok := listOf(seg.Text); ok {
					names += tokens.Raw(seg.Text)
					seen["list"]++
					continue
				}
				for line := range strings.SplitSeq(seg.Text, "\n") {
					kind := saidAs(line, source[seg.Src[0][0]])
					if seen[kind]++; kind == "" || kind != "verbatim" && seg.Role == "user" && !seg.Partial {
						t.Errorf("seed %d, %+v: %q of %s is %q of %q", seed, s, line, seg.Role, kind, source[seg.Src[0][0]])
					}
				}
			}
			if names*mostNames > tokens.Raw(Text(r.Segments)) {
				t.Errorf("seed %d, %+v: lists are %d tokens of %d", seed, s, names, tokens.Raw(Text(r.Segments)))
			}
		}
	}
	if seen["verbatim"] == 0 || seen["cut"] == 0 || seen["list"] == 0 {
		t.Errorf("not all kinds of lines are there: %v", seen)
	}
}

// saidAs tells how a line repeats a source: verbatim, cut, or "" if it does not.
func saidAs(line, source string) string {
	line = strings.TrimLeft(strings.TrimPrefix(singleSpaced(line), "$ "), "+-")
	source = singleSpaced(source)
	if strings.Contains(source, strings.TrimSpace(line)) {
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
