package forget_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A busy reader of randomness calls write before each read. A plan of a forgetting makes a stage, which needs some, after it has read the
// project: another writer always comes between the plan and its commit, unless it has to wait.
type busy struct {
	io.Reader
	write func()
}

func (b *busy) Read(p []byte) (int, error) {
	b.write()
	return b.Reader.Read(p)
}

// TestForgetBusy forgets while another process writes during each plan: after a bounded number of plans that process waits.
func TestForgetBusy(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	dir := t.TempDir()
	layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "aaaa0001.jsonl"), layerstest.UserLine(1, "call me zaphod")+layerstest.UserLine(2, "go on")))
	o := layerstest.TestOptions()
	o.LockTimeout = 50 * time.Millisecond
	other, err := layers.Open(m.Refs.Dir(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	wrote, waited, n := 0, 0, 100
	o = layerstest.TestOptions()
	o.Rand = &busy{rand.Reader, func() {
		n++
		file := layerstest.Write(t, filepath.Join(dir, fmt.Sprintf("bbbb%04d.jsonl", n)), layerstest.UserLine(n, "another session"))
		switch _, err := capture.Add(t.Context(), other.DB, []capture.Source{file}, capture.AddOptions{}); {
		case err == nil:
			wrote++
		case errors.Is(err, refs.ErrLocked):
			waited++
		default:
			t.Error(err)
		}
	}}
	forgetter, err := layers.Open(m.Refs.Dir(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer forgetter.Close()
	p, err := trust.Projects(t.Context(), m.DB)
	if err != nil {
		t.Fatal(err)
	}
	out, err := forget.Forget(t.Context(), forgetter.DB, forget.ForgetOptions{Projects: p, Match: regexp.MustCompile("zaphod")})
	if err != nil || len(out.Proof.Left) > 0 {
		t.Fatalf("Forget: %v, left %v; others wrote %d times, waited %d times", err, out.Proof.Left, wrote, waited)
	}
	if wrote < forget.FreePlans || waited == 0 {
		t.Errorf("others wrote %d times and waited %d times, want at least %d and 1: else nothing was tried", wrote, waited, forget.FreePlans)
	}
	if found := layerstest.Stays(t, "zaphod", []*layers.Memory{m}); len(found) > 0 {
		t.Errorf("it stays in %v", found)
	}
	layerstest.Roots(t, m)
}
