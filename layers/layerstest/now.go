package layerstest

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// Fetch copies the lanes that travel from one memory into another, as plain git does it.
func Fetch(t *testing.T, into, from *layers.Memory) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("SKIPPED: copying lanes needs git")
	}
	cmd := exec.CommandContext(t.Context(), git, "-C", filepath.Join(into.Refs.Dir(), "memory.git"),
		"fetch", "-q", filepath.Join(from.Refs.Dir(), "memory.git"), "refs/heads/p/*/"+from.Refs.Device().ID+":refs/heads/p/*/"+from.Refs.Device().ID)
	cmd.Env = append(cmd.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git fetch: %v\n%s", err, out)
	}
}

// Reopen opens the memory anew, so that it sees what git fetched.
func Reopen(t *testing.T, m *layers.Memory) *layers.Memory {
	t.Helper()
	n, err := layers.Open(m.Refs.Dir(), m.Opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// NowOf returns the newest growth point of the only session of a project.
func NowOf(t *testing.T, m *layers.Memory, p state.Project) *records.Point {
	t.Helper()
	st, err := trust.Outline(t.Context(), m.DB, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	return st.Session("s1").Now()
}
