package compress

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
)

// TestManyPins keeps many texts of one message: with a look at the whole message for each it would take minutes.
func TestManyPins(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "Step %d of the plan is the next. ##keepit1.00## Keep the value %d as it is.##/keepit##\n", i, i)
	}
	items := []Item{{N: 1, Kind: User, Text: b.String()}}
	p := Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: 1 << 20,
		Tiers: []Part{{From: 1, To: 1, Budget: 1 << 20, Level: keepit.Moderate}}}
	for _, m := range Marks(1, b.String()) {
		p.Kept = append(p.Kept, m.span())
	}
	r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
	if n := len(keptOf(r.Segments)); err != nil || n != 10_000 {
		t.Errorf("%d texts kept, %v", n, err)
	}
	for _, s := range r.Segments {
		if s.Partial && s.Keep == "" && !strings.Contains(s.Text, "…") && len(s.Text) < 40 {
			t.Fatalf("%q is marked as partial", s.Text)
		}
	}
}
