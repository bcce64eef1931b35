package knowledge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/tokens"
)

// TestFence encloses a long text in a key that is not in it, in linear time.
func TestFence(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("#7 user: "+strings.Repeat("x", 200)+"\n", 60_000)
	start := time.Now()
	key := fenceKey(text)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("fenceKey took %v", took)
	}
	if text += key; fenceKey(text) == key || strings.Contains(text, fenceKey(text)) {
		t.Error("the key is in the text")
	}
}

// TestNamedFiles keeps the files whose path or name is in the text.
func TestNamedFiles(t *testing.T) {
	t.Parallel()
	s := batch{}
	list := []string{"lib/price.go", `lib\price.go`, "price.go", "lib/cart.go", "lib/", `lib\`, `C:\x\`, ""}
	got := s.namedFiles("files", list, "I changed price.go in lib/ today")
	if want := `["lib/price.go" "lib\\price.go" "price.go" "lib/"]`; fmt.Sprintf("%q", got) != want {
		t.Errorf("files %q, want %s; dropped %q", got, want, s.out.Dropped)
	}
}

// TestReserve: the facts that a draft shows as known fit into what was reserved for them.
func TestReserve(t *testing.T) {
	t.Parallel()
	c := tokens.For("")
	k := known{}
	for i := range 30 {
		f := facts.Fact{ID: fmt.Sprint("f:", i), Kind: facts.Decision, Text: fmt.Sprintf("parse_%d is %s", i, strings.Repeat("x", 10*i))}
		k.others, k.issues = append(k.others, f), append(k.issues, f)
	}
	var lines []DraftLine
	for i := range 30 {
		lines = append(lines, DraftLine{Text: fmt.Sprintf("parse_%d", i)})
	}
	if n, most := estimateKnown(c, k.related(lines)), k.reserve(c); n > most {
		t.Errorf("the known facts need %d tokens of %d", n, most)
	}
}
