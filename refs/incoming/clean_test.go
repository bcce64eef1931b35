package incoming_test

import (
	"testing"

	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/incoming"
	"github.com/memvcs/mem/refs/refstest"
	"github.com/memvcs/mem/refs/repair"
)

func init() {
	incoming.MustClean(func(t *testing.T, r *refs.Repo) int {
		t.Helper()
		n, err := repair.Check(t.Context(), r, true, func(p repair.Problem) { t.Errorf("check: %s", p) })
		if err != nil {
			t.Fatal(err)
		}
		refstest.Fsck(t, r)
		return n.Lanes
	})
}
