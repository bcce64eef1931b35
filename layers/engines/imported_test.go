package engines

import (
	"errors"
	"testing"

	"github.com/memvcs/mem/layers/compress"
)

// TestImported checks that what another tool wrote is held to its messages, and that its witness makes it again.
func TestImported(t *testing.T) {
	t.Parallel()
	items := []compress.Item{{N: 1, Kind: compress.User, Text: "Fix price.Discount."}, {N: 2, To: 3, Kind: compress.Assistant, Text: "Done in cart/price.go."}}
	for _, c := range []struct {
		text string
		src  [2]int
		ok   bool
	}{
		{"price.Discount in cart/price.go was fixed", [2]int{1, 3}, true},
		{"cart/tax.go was fixed", [2]int{1, 3}, false},
		{"price.Discount was fixed", [2]int{2, 3}, false}, // another message says it
		{"It was fixed", [2]int{4, 4}, false},
		{"##keepit1.00## It was fixed", [2]int{2, 2}, false},
		{"It \x1b[2J was fixed", [2]int{2, 2}, false},
	} {
		answer, err := NewImportedAnswer([]compress.Segment{{Role: "assistant", Text: c.text, Src: [][2]int{c.src}}})
		if err != nil {
			t.Fatal(err)
		}
		e, err := NewImported("cc_context_eng opus", answer)
		if err != nil {
			t.Fatal(err)
		}
		segs, err := e.Segments(items)
		if c.ok != (err == nil) || err != nil && !errors.Is(err, errUnverified) || c.ok && segs[0].Text != c.text {
			t.Errorf("%q of %v: %v, %v", c.text, c.src, segs, err)
		}
		tool, ok := ImportedTool(e.ID())
		if !ok || tool != "cc_context_eng opus" {
			t.Errorf("ImportedTool(%q) = %q, %v", e.ID(), tool, ok)
		}
		if _, _, model := ModelOf(e.ID()); model {
			t.Errorf("%q passes for a model", e.ID())
		}
		again, err := NewImported(tool, []byte(e.Exchanges()[0].Answer.Text))
		if err != nil || again.ID() != e.ID() {
			t.Errorf("made again it is %v, %v, want %s", again, err, e.ID())
		}
	}
	if _, ok := ImportedTool("extract/5"); ok {
		t.Error("extract passes for an import")
	}
}
