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
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A busy reader of randomness calls write before each read. A plan of a forgetting makes a stage, which needs some, after it has read the
// project: another writer would come between the plan and its commit.
type busy struct {
	io.Reader
	write func()
}

func (b *busy) Read(p []byte) (int, error) {
	b.write()
	return b.Reader.Read(p)
}

// TestForgetBusy forgets while another process wants to write during the plan: that process waits.
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
	if waited == 0 {
		t.Errorf("others wrote %d times and did not wait: nothing was tried", wrote)
	}
	if found := layerstest.Stays(t, "zaphod", []*layers.Memory{m}); len(found) > 0 {
		t.Errorf("it stays in %v", found)
	}
	layerstest.Roots(t, m)
}

// TestForgetVersionElsewhere forgets a version of which another device has made compositions and a version: one that this device
// knows, and others that were made at the same time. Their text goes from all lanes; a composition of the session stays.
func TestForgetVersionElsewhere(t *testing.T) {
	t.Parallel()
	for _, pushed := range []bool{true, false} {
		h := layerstest.NewHub(t, "dir")
		a, b := h.Memory(t, "a"), h.Memory(t, "b")
		text := ""
		for i := range 40 {
			text += layerstest.UserLine(i, fmt.Sprintf("message %d says a good deal about the tables of module %d and who writes them", i, i))
		}
		layerstest.Add(t, a, layerstest.Write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), text))
		made, err := derive.Compress(t.Context(), a.DB, layerstest.RevOf(t, a, "aaaa0001"), planning.Settings{Ratio: 4}, false)
		if err != nil {
			t.Fatal(err)
		}
		layerstest.PushAll(t, a)
		layerstest.FetchAll(t, b)
		layerstest.TrustAll(t, b)
		for name, part := range map[string]string{"of-version": "aaaa0001:v001", "of-session": "aaaa0001:original"} {
			rev := layerstest.RevOf(t, b, part)
			req := derive.ComposeRequest{Project: rev.Project, Name: name, Budget: 4000, Parts: []derive.ComposePart{{Rev: rev}}}
			if _, err := derive.Compose(t.Context(), b.DB, req); err != nil {
				t.Fatal(err)
			}
		}
		if pushed {
			layerstest.PushAll(t, b)
			layerstest.FetchAll(t, a)
			layerstest.TrustAll(t, a)
		}
		layerstest.ForgetText(t, a, forget.ForgetOptions{Revs: []state.Rev{layerstest.RevOf(t, a, "aaaa0001:v001")}})
		names := func(m *layers.Memory) (out []string) {
			st, err := trust.State(t.Context(), m.DB, layerstest.RevOf(t, m, "aaaa0001").Project.ID)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range st.Compositions {
				out = append(out, c.Name)
			}
			return out
		}
		layerstest.PushAll(t, a)
		layerstest.FetchAll(t, b)
		layerstest.PushAll(t, b)
		layerstest.FetchAll(t, a)
		layerstest.TrustAll(t, a)
		for _, m := range []*layers.Memory{a, b} {
			if got := fmt.Sprint(names(m)); got != "[of-session]" {
				t.Errorf("pushed %v: the compositions %s stay", pushed, got)
			}
			if found := layerstest.Stays(t, made.Version.Derivation.Output.String(), []*layers.Memory{m}, h.Dir); len(found) > 0 {
				t.Errorf("pushed %v: the version stays in %v", pushed, found)
			}
		}
		if ra, rb := layerstest.Roots(t, a), layerstest.Roots(t, b); ra != rb {
			t.Errorf("pushed %v: %s, %s", pushed, ra, rb)
		}
	}
}
