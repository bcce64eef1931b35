package state_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// TestFactsOfAnyOrder: whichever way records arrive, and whichever lane they are of, the facts are the same.
func TestFactsOfAnyOrder(t *testing.T) {
	t.Parallel()
	var records []refs.Record
	add := func(lamport uint64, device, kind string, body any) {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, refs.Record{Kind: kind, Lamport: lamport, Device: device, ID: objects.Sum(b), Body: b})
	}
	fact := func(n int) facts.Fact {
		return facts.Fact{Session: "s", Kind: facts.Issue, Text: fmt.Sprint(n), Verdict: facts.Verified, Evidence: []facts.Evidence{{Message: n, Quote: "q"}}}
	}
	rng := rand.New(rand.NewPCG(5, 6))
	says := []string{facts.Removes, facts.Supersedes, facts.Resolves, facts.Refutes, facts.Describes}
	for i := range 60 {
		device, at := []string{"a", "b", "c"}[i%3], uint64(i/2)
		switch rng.IntN(3) {
		case 0:
			n := rng.IntN(8)
			add(at, device, facts.KindExchange, facts.Exchange{Session: "s", From: n, To: n + 1, Facts: []facts.Fact{fact(n), fact(n + 1)}}.Bare())
		case 1:
			add(at, device, facts.KindJudgement, facts.Judgement{Fact: fact(rng.IntN(9)).Key(), Says: says[rng.IntN(5)], Value: rng.IntN(3) > 0, By: fact(rng.IntN(9)).Key(), Keywords: []string{fmt.Sprint(i)}})
		default:
			add(at, device, facts.KindDistilled, facts.Distilled{Session: "s", Generation: rng.IntN(2), Through: rng.IntN(50)})
		}
	}
	folded := func() string {
		state.Order(records, func(a, b *refs.Record) int { return a.Compare(*b) })
		set, err := facts.Fold(state.Statements(records))
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := folded()
	for range 100 {
		rng.Shuffle(len(records), func(i, k int) { records[i], records[k] = records[k], records[i] })
		if got := folded(); got != want {
			t.Fatalf("in another order\n%s\nwant\n%s", got, want)
		}
	}
	if slices.IndexFunc(records, func(r refs.Record) bool { return r.Kind == facts.KindExchange }) < 0 {
		t.Fatal("no exchange was made")
	}
}
