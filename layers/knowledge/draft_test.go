package knowledge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/knowledge/facts"
)

// TestFence encloses a transcript with many lines in a key that is not in it, in linear time.
func TestFence(t *testing.T) {
	t.Parallel()
	var d FactDraft
	for n := range 60_000 {
		d.Lines = append(d.Lines, DraftLine{n, "user", strings.Repeat("x", 200)})
	}
	start := time.Now()
	key := d.fence()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("fence took %v", took)
	}
	if d.Lines[7].Text = key; d.fence() == key {
		t.Error("the key is in the text")
	}
	d.Lines[7].Text = ""
	d.Open = []facts.Fact{{Text: d.fence()}}
	if d.fence() == d.Open[0].Text {
		t.Error("the key is in a known fact")
	}
}

// TestNamedFiles keeps the files whose path or name is in the text.
func TestNamedFiles(t *testing.T) {
	t.Parallel()
	s := saver{}
	list := []string{"lib/price.go", `lib\price.go`, "price.go", "lib/cart.go", "lib/", `lib\`, `C:\x\`, ""}
	got := s.namedFiles("files", list, "I changed price.go in lib/ today")
	if want := `["lib/price.go" "lib\\price.go" "price.go" "lib/"]`; fmt.Sprintf("%q", got) != want {
		t.Errorf("files %q, want %s; dropped %q", got, want, s.out.Dropped)
	}
}
