package capture_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/layerstest"
)

// clientFile describes a file as a list finds it.
func clientFile(t testing.TB, path string) capture.ClientFile {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return capture.ClientFile{Path: path, Size: fi.Size(), Modified: fi.ModTime()}
}

// TestChangedCompanions finds what changes beside a session file: a new subagent, one that grew, and overflow files that
// are new or have another size. What was captured is no change, and neither is a file that is gone.
func TestChangedCompanions(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	dir, line := t.TempDir(), layerstest.UserLine
	path := filepath.Join(dir, "s1.jsonl")
	subagents, results := filepath.Join(dir, "s1", "subagents"), filepath.Join(dir, "s1", "tool-results")
	for _, d := range []string{subagents, results} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	layerstest.Write(t, path, line(1, "one"))
	layerstest.Write(t, filepath.Join(results, "a.txt"), "output")
	agent := layerstest.Write(t, filepath.Join(subagents, "agent-1.jsonl"), line(2, "two"))
	found, err := capture.Subagents(path)
	if err != nil || len(found) != 1 {
		t.Fatalf("Subagents = %v, %v", found, err)
	}
	p := layerstest.Add(t, m, append(found, capture.SourceOf(path))...)[0].Project.ID
	changed := func() int64 {
		t.Helper()
		extra, changed, err := capture.ChangedCompanions(t.Context(), m.DB, stateOf(t, m, p), sessionOf(t, m, p, "s1"), clientFile(t, path),
			capture.ReadFileCache(m.DB, p))
		if err != nil || changed != (extra != 0) {
			t.Errorf("ChangedCompanions = %d, %v, %v", extra, changed, err)
		}
		return extra
	}
	if n := changed(); n != 0 {
		t.Errorf("after the capture %d bytes have changed", n)
	}
	layerstest.Write(t, agent.Path, line(2, "two")+line(3, "three"))
	more := int64(len(line(3, "three")))
	if n := changed(); n != more {
		t.Errorf("a subagent grew by %d bytes, want %d", n, more)
	}
	layerstest.Write(t, filepath.Join(subagents, "agent-2.jsonl"), line(4, "four"))
	layerstest.Write(t, filepath.Join(results, "a.txt"), "longer output")
	layerstest.Write(t, filepath.Join(results, "b.txt"), "another")
	more += int64(len(line(4, "four")) + len("longer ") + len("another"))
	if n := changed(); n != more {
		t.Errorf("with a new subagent and files %d bytes have changed, want %d", n, more)
	}
	if err := os.RemoveAll(filepath.Join(dir, "s1")); err != nil {
		t.Fatal(err)
	}
	if n := changed(); n != 0 {
		t.Errorf("after the files are gone %d bytes have changed", n)
	}
}

// TestTitles reads the title of a file once for each size and time, and forgets a file that is gone.
func TestTitles(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	p := layerstest.Add(t, m, layerstest.Session(t, "s1", "/home/dev/shop", 1))[0].Project.ID
	path := filepath.Join(t.TempDir(), "a1.jsonl")
	write := func(title string, at time.Time) capture.ClientFile {
		t.Helper()
		layerstest.Write(t, path, layerstest.UserLine(1, title))
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return clientFile(t, path)
	}
	found, now := capture.ReadFileCache(m.DB, p), time.Unix(1e9, 0)
	for _, c := range []struct {
		title string
		at    time.Time
		want  string
	}{{"fix the cart", now, "fix the cart"}, {"fox the cart", now, "fix the cart"}, {"fox the cart", now.Add(1), "fox the cart"}} {
		if got := found.Title(write(c.title, c.at)); got != c.want {
			t.Errorf("the title is %q, want %q", got, c.want)
		}
		capture.WriteFileCache(m.DB, p, found)
		found = capture.ReadFileCache(m.DB, p)
	}
	for name, left := range map[string]int{path: 1, path + "x": 0, "": 0} {
		kept := capture.ReadFileCache(m.DB, p)
		if kept.Prune(map[string]capture.ClientFile{"a1": {Path: name}}); len(kept.Titles) != left {
			t.Errorf("Prune to %q leaves %d titles, want %d", name, len(kept.Titles), left)
		}
	}
}
