package layerstest

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/memvcs/mem/layers"
)

// CopyOf copies a store as somebody does who moves a home directory.
func (h *Hub) CopyOf(t testing.TB, m *layers.Memory) *layers.Memory {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "memory")
	if out, err := exec.Command("cp", "-a", m.Refs.Dir(), dir).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v %s", err, out)
	}
	o := TestOptions()
	o.World = h.World()
	c, err := layers.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
