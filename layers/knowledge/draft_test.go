package knowledge

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/tokens"
)

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
