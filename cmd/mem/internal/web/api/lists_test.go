package api

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// TestListed shows what a page sees of files that appear: they are at most five seconds late, and what the memory
// learns is there at once.
func TestListed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	claude, store := filepath.Join(dir, "claude"), filepath.Join(dir, "memory")
	m, err := layers.Init(t.Context(), store, "desk", state.Options{Now: time.Now, Rand: rand.Reader})
	must(t, err)
	defer func() { must(t, m.Close()) }()
	write := func(n int) {
		id := fmt.Sprintf("0c0c0c0c-0000-4000-8000-%012d", n)
		name := filepath.Join(claude, "projects", "-home-dev-shop", id+".jsonl")
		must(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must(t, os.WriteFile(name, fmt.Appendf(nil, `{"type":"user","uuid":"u%d","sessionId":%q,"cwd":"/home/dev/shop",`+
			`"timestamp":"2026-01-20T10:00:0%dZ","message":{"role":"user","content":"hello"}}`+"\n", n, id, n), 0o600))
	}
	add := func() {
		sources, err := capture.Sources(claude)
		must(t, err)
		_, err = capture.Add(t.Context(), m.DB, sources, capture.AddOptions{Op: "import"})
		must(t, err)
	}
	write(1)
	add()
	projects, err := trust.Projects(t.Context(), m.DB)
	must(t, err)
	s := New(World{Memory: m, Store: store, Claude: claude, Now: time.Now, Rand: rand.Reader})
	defer s.Close()
	heard := s.Events.listen()
	defer s.Events.leave(heard)
	list := func(total, untracked int) {
		t.Helper()
		items, _, err := s.Listed(t.Context(), projects[0], capture.ListOptions{})
		must(t, err)
		fresh := 0
		for _, it := range items {
			if it.Status == sessions.Untracked {
				fresh++
			}
		}
		if len(items) != total || fresh != untracked {
			t.Errorf("%d sessions, %d not in memory, want %d, %d", len(items), fresh, total, untracked)
		}
	}
	older := func(by time.Duration) { s.lists.cached[0].checked = s.lists.cached[0].checked.Add(-by) }
	list(1, 0)
	write(2)
	older(2 * listFresh)
	list(1, 0) // and the files are looked at
	s.lists.work.Wait()
	list(2, 1)
	select {
	case <-heard:
	default:
		t.Error("nobody heard of the file")
	}
	write(3)
	older(listStale)
	list(3, 2)
	add()
	list(3, 0)
	if !s.lists.drop() || s.lists.drop() {
		t.Error("lists are dropped once")
	}
	list(3, 0)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
