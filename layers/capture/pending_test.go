package capture_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/state"
)

// TestPending lists the files of a project that are new or have changed, and the files of all projects that are not in memory.
func TestPending(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	claude := t.TempDir()
	dir := filepath.Join(claude, "projects", capture.ClientDir("/home/dev/shop"))
	nested := filepath.Join(claude, "projects", capture.ClientDir("/home/dev/shop/api"))
	other := filepath.Join(claude, "projects", capture.ClientDir("/home/dev/other"))
	for _, d := range []string{filepath.Join(dir, "same", "subagents"), nested, other} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	line := layerstest.UserLine
	same := layerstest.Write(t, filepath.Join(dir, "same.jsonl"), line(1, "one"))
	grown := layerstest.Write(t, filepath.Join(dir, "grown.jsonl"), line(2, "two"))
	cut := layerstest.Write(t, filepath.Join(dir, "cut.jsonl"), line(3, "three")+line(4, "four"))
	p := layerstest.Add(t, m, same, grown, cut)[0].Project
	in := func(cwd, text string) string { return strings.ReplaceAll(text, "/home/dev/shop", cwd) }
	layerstest.Write(t, grown.Path, line(2, "two")+line(5, "five"))
	layerstest.Write(t, cut.Path, line(3, "three"))
	layerstest.Write(t, filepath.Join(dir, "new.jsonl"), line(6, "six"))
	layerstest.Write(t, filepath.Join(dir, "empty.jsonl"), "")
	layerstest.Write(t, filepath.Join(dir, "._new.jsonl"), line(6, "six"))
	layerstest.Write(t, filepath.Join(dir, "foreign.jsonl"), in("/home/dev/shop-old", line(7, "seven")))
	layerstest.Write(t, filepath.Join(dir, "same", "subagents", "agent-1.jsonl"), line(8, "eight"))
	layerstest.Write(t, filepath.Join(nested, "below.jsonl"), in("/home/dev/shop/api", line(9, "nine")))
	layerstest.Write(t, filepath.Join(other, "other.jsonl"), in("/home/dev/other", line(10, "ten")))

	var ignored []string
	o := capture.ListOptions{Claude: claude, Dir: "/elsewhere", Ignored: func(_ state.Project, path string) { ignored = append(ignored, filepath.Base(path)) }}
	list, err := capture.Pending(t.Context(), m.DB, state.Project{ID: p.ID, Name: p.Name, Identity: p.Identity}, o)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{} // whether the session is in memory
	for _, f := range list {
		got[filepath.Base(f.Path)] = f.Known
	}
	want := map[string]bool{"grown.jsonl": true, "new.jsonl": false, "agent-1.jsonl": false, "below.jsonl": false}
	for name, known := range want {
		if is, ok := got[name]; !ok || is != known {
			t.Errorf("%s is pending: %v, known: %v; want true, %v", name, ok, is, known)
		}
	}
	if len(got) != len(want) || !slices.Equal(ignored, []string{"._new.jsonl"}) {
		t.Errorf("pending are %v, ignored %q", got, ignored)
	}

	var names []string
	all, err := capture.Untracked(t.Context(), m.DB, o)
	for _, f := range all {
		names = append(names, strings.TrimSuffix(filepath.Base(f.Path), ".jsonl")+" of "+f.Project.Name)
	}
	slices.Sort(names)
	if want := []string{"below of shop", "foreign of shop-old", "new of shop", "other of other"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("untracked are %q, %v, want %q", names, err, want)
	}
}
