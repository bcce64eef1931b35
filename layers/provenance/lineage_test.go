package provenance

import (
	"fmt"
	"testing"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
)

// TestRepeatedInputs walks versions that each name the one before twice. If both were kept, the tree would double at
// each level.
func TestRepeatedInputs(t *testing.T) {
	t.Parallel()
	const levels = 16
	a := &ancestry{versions: map[objects.Hash][]*Node{}}
	var x *Node
	for n := range levels {
		h := objects.Sum([]byte(fmt.Sprint(n)))
		next := &Node{Kind: state.IsVersion, Hash: h}
		if x != nil {
			next.inputs = []objects.Hash{x.Hash, x.Hash}
		}
		a.versions[h], x = []*Node{next}, next
	}
	a.walk(x, false, map[*Node]bool{})
	if n := nodes(x); n != levels {
		t.Errorf("the tree has %d nodes, want %d", n, levels)
	}
}

// nodes returns the number of nodes of a tree.
func nodes(x *Node) int {
	n := 1
	for _, next := range x.Next {
		n += nodes(next)
	}
	return n
}
