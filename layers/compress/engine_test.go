package compress

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/tokens"
)

// TestFirstEngine holds the first engine to the bytes that it has always made: versions that it made must come out
// again. The sums were taken when it was the only one; they never change.
func TestFirstEngine(t *testing.T) {
	t.Parallel()
	items, st, marks := session(5, 220)
	for i := range items {
		if items[i].Kind == Output && i%2 == 0 {
			items[i].Kind = Diff
		}
	}
	for _, c := range []struct {
		s    Settings
		want string
	}{
		{Settings{Ratio: 3}, "0bb84437c4c3a141"},
		{Settings{Ratio: 12}, "3fa7ea4d4a9f6e93"},
		{Settings{Ratio: 30, Keepit: Ignore}, "475dd998ca83240e"},
		{Settings{Preset: "aggressive", Keepit: Ignore}, "398e813c32559751"},
		{Settings{Preset: "gentle", Keepit: PreserveAll}, "31cdf2450e199194"},
	} {
		c.s.Counter = tokens.For("")
		p, _, err := Resolve(c.s, st, marks)
		if err != nil {
			t.Fatal(err)
		}
		second, err := Run(context.Background(), Input{Items: items}, p, Extract{})
		if err != nil {
			t.Fatal(err)
		}
		p.Engine = First().ID()
		r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(r.Body))[:16]; got != c.want {
			t.Errorf("%+v by %s: %s, want %s", c.s, p.Engine, got, c.want)
		}
		if c.s.Ratio == 30 && string(r.Body) == string(second.Body) {
			t.Error("both engines make the same of it: this test tells nothing")
		}
	}
	if e, ok := ExtractByID("extract/2"); !ok || e != (Extract{}) {
		t.Errorf("extract/2 is %v, %v", e, ok)
	}
	if _, ok := ExtractByID("extract/0"); ok {
		t.Error("there never was an extract/0")
	}
	p, _, err := Resolve(Settings{Ratio: 30, Keepit: Ignore, Counter: tokens.For("")}, st, marks)
	if err != nil {
		t.Fatal(err)
	}
	p.Engine = "extract/99"
	if _, err := Run(context.Background(), Input{Items: items}, p, Extract{}); err == nil || !strings.Contains(err.Error(), "extract/99") {
		t.Errorf("an engine of tomorrow: %v", err)
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
		r, err := Run(context.Background(), Input{Items: items, Output: outputs(returned)}, Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: budget, Tiers: []Part{{1, 40, budget, l}}}, Extract{})
		if err != nil {
			t.Fatal(err)
		}
		return Text(r.Segments)
	}
	got := run(600, 2)
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

func TestNames(t *testing.T) {
	t.Parallel()
	var got []string
	eachName("call cart.SumOf(line.Cents), see a.b, cart/sum.go, v1.2, Cart..Sum and x-y/price.Parse. e.g. A.", func(s string) { got = append(got, s) })
	if fmt.Sprint(got) != "[cart.SumOf line.Cents price.Parse]" {
		t.Errorf("names = %q", got)
	}
	for in, want := range map[string]bool{"return": true, "+\t}, 100)": true, "-\t\t.get(id);": true, "+\treturn total": false, "合計": false, "": true} {
		if got := bare(in); got != want {
			t.Errorf("bare(%q) = %v", in, got)
		}
	}
	for in, want := range map[string]string{"12→\tx": "x", "12→": "", "→x": "→x", "12 x": "12 x", "": ""} {
		if got := unnumbered(in); got != want {
			t.Errorf("unnumbered(%q) = %q, want %q", in, got, want)
		}
	}
}

// outputs is an [Input.Output] of a list.
func outputs(items []Item) func(from, to int) iter.Seq2[Item, error] {
	return func(from, to int) iter.Seq2[Item, error] {
		return func(yield func(Item, error) bool) {
			for _, it := range items {
				if from <= it.N && it.N <= to && !yield(it, nil) {
					return
				}
			}
		}
	}
}
