package tier

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
)

// anySource is a version of some session with kept texts of any weight, and facts.
func anySource(rng *rand.Rand, n int) Source {
	words := strings.Fields("the cart keeps its lines in a file because the parser reads whole orders and accounting wants every cent of each invoice rounded half up")
	say := func(max int) string {
		var b strings.Builder
		for range 1 + rng.IntN(max) {
			fmt.Fprintf(&b, "%s%d ", words[rng.IntN(len(words))], rng.IntN(50))
		}
		return strings.TrimSpace(b.String())
	}
	x := Source{Distance: 1 + rng.IntN(12)}
	x.Part = compose.Part{Session: fmt.Sprintf("session-%d", n), Project: "shop", Title: say(8), Date: time.Unix(rng.Int64N(1<<30), 0), Version: "v001", Messages: 9}
	for i := range rng.IntN(40) {
		s := compress.Segment{Role: []string{"user", "assistant", "tool"}[rng.IntN(3)], Text: say(40), Src: [][2]int{{i*3 + 1, i*3 + 2}}}
		if rng.IntN(12) == 0 {
			w := keepit.Weight(rng.IntN(101))
			s.Role, s.Keep, s.Src = "user", w.String(), [][2]int{{i*3 + 1, i*3 + 1}}
		}
		x.Segments = append(x.Segments, s)
		x.Tokens += 10 * len(s.Text) / 3
	}
	for i := range rng.IntN(6) {
		x.Facts = append(x.Facts, Fact{ID: fmt.Sprintf("f:%08x", rng.Uint32()), Session: x.Part.Session, Kind: kinds[rng.IntN(len(kinds))], Text: say(20), Src: [][2]int{{i + 1, i + 1}}})
	}
	return x
}

// TestSummariesKeepTheirPromises makes summaries of any sessions in any number of tokens: never above the budget, which is
// only raised for pinned texts or a single session; pinned texts are there to the byte; and each part can be made again.
func TestSummariesKeepTheirPromises(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(7, 8))
	count := tokens.For("claude-opus-4-6")
	rounds := 60
	if testing.Short() {
		rounds = 30
	}
	for round := range rounds {
		var sources []Source
		for i := range 1 + rng.IntN(8) {
			sources = append(sources, anySource(rng, i))
		}
		budget := 100 + rng.IntN(6000)
		kind := []Tier{Weekly, Monthly}[rng.IntN(2)]
		s, err := Summarise(ctx, Request{kind, "weekly-2026-W03", budget, count, sources})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if n := count.Count(string(s.Markdown())); n > s.Budget {
			t.Errorf("round %d: %d tokens of %d", round, n, s.Budget)
		}
		if len(s.Parts) != len(s.Cuts) || len(s.Parts)+len(s.Omitted) != len(sources) {
			t.Fatalf("round %d: %d parts, %d cuts, %d left of %d", round, len(s.Parts), len(s.Cuts), len(s.Omitted), len(sources))
		}
		pins := 0
		in := slices.DeleteFunc(slices.Clone(sources), func(x Source) bool {
			return slices.ContainsFunc(s.Omitted, func(i int) bool { return sources[i].Part.Session == x.Part.Session })
		})
		for _, x := range sources {
			for _, g := range x.Segments {
				if g.Keep != "1.00" {
					continue
				}
				pins++
				i := slices.IndexFunc(s.Parts, func(p compose.Part) bool { return p.Session == x.Part.Session })
				if i < 0 || !slices.ContainsFunc(s.Parts[i].Segments, func(y compress.Segment) bool { return y.Keep == g.Keep && y.Text == g.Text }) {
					t.Errorf("round %d: the pinned text %q of %s is gone", round, g.Text, x.Part.Session)
				}
			}
		}
		if s.Budget > budget && pins == 0 && len(s.Parts) > 1 {
			t.Errorf("round %d: the budget was raised from %d to %d for nothing", round, budget, s.Budget)
		}
		for i, cut := range s.Cuts {
			again, err := cut.Rebuild(ctx, in[i].Segments, in[i].Facts, count)
			if err != nil {
				t.Fatal(err)
			}
			a, b := compose.Composition{Parts: []compose.Part{{Segments: again}}}, compose.Composition{Parts: []compose.Part{{Segments: s.Parts[i].Segments}}}
			if !bytes.Equal(a.Encode(), b.Encode()) {
				t.Errorf("round %d: part %d is another one when it is made again", round, i)
			}
		}
		same, err := Summarise(ctx, Request{kind, "weekly-2026-W03", budget, count, sources})
		if err != nil || !bytes.Equal(same.Encode(), s.Encode()) {
			t.Errorf("round %d: another summary of the same: %v", round, err)
		}
	}
}
