package compress

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
)

// TestManyPins keeps many texts of one message: with a look at the whole message for each it would take minutes.
func TestManyPins(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 4_000 {
		fmt.Fprintf(&b, "Step %d of the plan is the next. ##keepit1.00## Keep the value %d as it is.##/keepit##\n", i, i)
	}
	items := []version.Item{{N: 1, Kind: version.User, Text: b.String()}}
	p := planning.Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: 1 << 20,
		Tiers: []planning.Part{{From: 1, To: 1, Budget: 1 << 20, Level: keepit.Moderate}}}
	for _, m := range planning.Marks(1, b.String()) {
		p.Kept = append(p.Kept, m.Span())
	}
	r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
	if n := len(keptOf(r.Segments)); err != nil || n != 4_000 {
		t.Errorf("%d texts kept, %v", n, err)
	}
	for _, s := range r.Segments {
		if s.Partial && s.Keep == "" && !strings.Contains(s.Text, "…") && len(s.Text) < 40 {
			t.Fatalf("%q is marked as partial", s.Text)
		}
	}
}
