package layerstest

import (
	"testing"
)

// Branches returns where the branches of a hub are.
func (h *Hub) Branches(t testing.TB) string {
	t.Helper()
	return GitRun(t, h.Dir, "for-each-ref")
}
