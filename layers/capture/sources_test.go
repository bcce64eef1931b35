package capture

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSubagentsOfFile finds no subagents where a file has the name of the session's directory.
func TestSubagentsOfFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"abc", "abc.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Subagents(filepath.Join(dir, "abc.jsonl")); len(got) > 0 || err != nil {
		t.Errorf("Subagents = %v, %v, want none", got, err)
	}
	if src := SourceOf(filepath.Join(dir, "abc.jsonl")); len(src.Files) > 0 || src.filesErr != nil {
		t.Errorf("SourceOf = %v, %v, want no files", src.Files, src.filesErr)
	}
}

// TestSources finds the session files below directories of the client, with their subagents and overflow files.
func TestSources(t *testing.T) {
	t.Parallel()
	claude, disk := t.TempDir(), t.TempDir()
	write := func(root, name, text string) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.jsonl", "a/tool-results/t1.txt", "a/subagents/agent-1.jsonl", "a/subagents/agent-1.meta.json", "._b.jsonl", "notes.txt"} {
		write(claude, "projects/-w/"+name, "{}\n")
	}
	write(claude, "projects/-w/empty.jsonl", "")
	write(claude, "elsewhere.jsonl", "{}\n")
	write(disk, "linked.jsonl", "{}\n")
	write(disk, "deeper/b.jsonl", "{}\n")
	if err := os.Symlink(disk, filepath.Join(claude, "projects", "-linked")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(filepath.Join(disk, "linked.jsonl"), filepath.Join(claude, "projects", "-w", "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	list, err := Sources(claude)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Source{}
	for _, src := range list {
		got[filepath.Base(src.Path)] = src
	}
	if len(list) != 4 || len(got) != 4 {
		t.Errorf("found %v", list)
	}
	for name, want := range map[string]struct {
		parent string
		files  int
	}{"a.jsonl": {"", 1}, "agent-1.jsonl": {"a", 1}, "linked.jsonl": {}, "b.jsonl": {}} {
		if src, ok := got[name]; !ok || src.Parent != want.parent || len(src.Files) != want.files {
			t.Errorf("%s: %+v, want the parent %q and %d files", name, src, want.parent, want.files)
		}
	}
	if _, err := Sources(filepath.Join(claude, "gone")); err == nil {
		t.Error("a directory that is gone has no error")
	}
	if one, err := Sources(filepath.Join(claude, "projects", "-w", "a", "subagents")); err != nil || len(one) != 1 {
		t.Errorf("of subagents: %v, %v", one, err)
	}
}

func TestSubagentOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/c/-w/abc/subagents/agent-1.jsonl": "abc", "/c/-w/abc/agent-1.jsonl": "", "/c/-w/abc.jsonl": "", "/subagents/x.jsonl": "/",
	} {
		if got, ok := SubagentOf(filepath.FromSlash(path)); filepath.ToSlash(got) != want || ok != (want != "") {
			t.Errorf("SubagentOf(%q) = %q, %v, want %q", path, got, ok, want)
		}
	}
}
