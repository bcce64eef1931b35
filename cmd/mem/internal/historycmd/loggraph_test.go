package historycmd_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/memvcs/mem/cmd/mem/internal/historycmd"
)

func TestGraph(t *testing.T) {
	t.Parallel()
	var g historycmd.Graph
	var b strings.Builder
	for _, n := range []struct {
		commit, parents string
		sign            byte
	}{
		{"compose", "v2 w1", '*'}, {"w1", "add", '*'}, {"v2", "grow", '*'}, {"v1", "add", '*'}, {"rm", "", 'o'}, {"grow", "add", 'o'}, {"add", "", 'o'},
	} {
		above, own := g.Node(n.commit, strings.Fields(n.parents), n.sign)
		if above != "" {
			b.WriteString(above + "\n")
		}
		b.WriteString(own + " " + n.commit + "\n")
	}
	const want = `*-. compose
| * w1
* | v2
| | * v1
| | | o rm
o | | grow
|-'-'
o add
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestGraphOfAnything draws random histories: each operation has one sign, and nothing is left over at the end.
func TestGraphOfAnything(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		n := 1 + rng.IntN(30)
		var g historycmd.Graph
		for i := range n {
			var parents []string
			for p := i + 1; p < n; p++ {
				if rng.IntN(6) == 0 {
					parents = append(parents, string(rune('A'+p)))
				}
			}
			above, own := g.Node(string(rune('A'+i)), parents, '*')
			if strings.Count(own, "*") != 1 || strings.Contains(above, "*") || strings.TrimRight(own, " ") != own {
				t.Fatalf("line %q above %q", own, above)
			}
		}
		if len(g.Lanes) != 0 {
			t.Fatalf("lanes %q lead nowhere", g.Lanes)
		}
	}
}
