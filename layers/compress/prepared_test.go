package compress

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
)

// TestPrepared runs many plans on one input, some twice and several at once: each gives the bytes of a run of its own.
func TestPrepared(t *testing.T) {
	t.Parallel()
	ctx, c := context.Background(), tokens.For("claude-opus-4-6")
	seeds, size := int64(3), 120
	if testing.Short() { // under the race detector
		seeds, size = 1, 40
	}
	for seed := range seeds {
		items, stats, marks := session(seed, size)
		items = withDiffs(items)
		ready := Prepare(Input{Items: items})
		aggressive := keepit.Aggressive
		var all sync.WaitGroup
		for _, s := range []Settings{{Tokens: 90}, {Tokens: 400}, {Ratio: 40}, {Ratio: 2}, {Preset: "standard"}, {Ratio: 3, Level: &aggressive},
			{Ratio: 1}, {Preset: "gentle"}, {Ratio: 40, Distance: 9}, {Ratio: 2}, {Preset: "standard"}, {Tokens: 400}, {Ratio: 40}, {Tokens: 2}} {
			s.Counter, s.Keepit = c, Decay
			p, _, err := Resolve(s, stats, marks)
			if err != nil {
				t.Fatal(err)
			}
			want, wrong := Run(ctx, Input{Items: items}, p, Extract{})
			all.Go(func() {
				got, err := ready.Run(ctx, p, Extract{})
				if fmt.Sprint(err) != fmt.Sprint(wrong) || !bytes.Equal(got.Body, want.Body) || got.Tokens != want.Tokens ||
					got.Messages != want.Messages {
					t.Errorf("session %d, %d tokens: %d bytes, %v, want %d bytes, %v", seed, p.Budget, len(got.Body), err,
						len(want.Body), wrong)
				}
			})
		}
		all.Wait()
	}
}
