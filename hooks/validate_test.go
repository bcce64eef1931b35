package hooks

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckSession(t *testing.T) {
	t.Parallel()
	for id, ok := range map[string]bool{
		"53cbcd27-e080-4015-b144-c61141b14510": true, "agent-a3f6": true, "a_b": true, strings.Repeat("a", 128): true,
		"": false, "../x": false, "a/b": false, "-a": false, ".a": false, "a.b": false, "a\x00": false, "a b": false, strings.Repeat("a", 129): false, "é": false,
	} {
		if err := checkSession(id); (err == nil) != ok || err != nil && !errors.Is(err, errRefused) {
			t.Errorf("checkSession(%q) = %v", id, err)
		}
	}
}

func TestCheckTranscript(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	projects := filepath.Join(root, ".claude", "projects")
	dir := filepath.Join(projects, "-w")
	good, out := filepath.Join(dir, "a.jsonl"), filepath.Join(root, "out")
	for _, d := range []string{filepath.Join(dir, "a", "subagents"), out, filepath.Join(dir, "d.jsonl")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	agent, secret := filepath.Join(dir, "a", "subagents", "agent-b.jsonl"), filepath.Join(out, "s.jsonl")
	for _, f := range []string{good, agent, secret} {
		if err := os.WriteFile(f, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link, linkDir, self := filepath.Join(dir, "l.jsonl"), filepath.Join(projects, "l"), filepath.Join(root, "link")
	for _, l := range [][2]string{{secret, link}, {out, linkDir}, {filepath.Join(root, ".claude"), self}} {
		if err := os.Symlink(l[0], l[1]); err != nil {
			t.Skipf("SKIPPED: no symbolic links: %v", err)
		}
	}
	for _, tt := range []struct {
		path      string
		there, ok bool
	}{
		{good, true, true}, {agent, true, true},
		{filepath.Join(dir, "new.jsonl"), false, true},
		{filepath.Join(projects, "-new", "new.jsonl"), false, true},
		{filepath.Join(self, "projects", "-w", "a.jsonl"), true, true}, // the same directory by another name
		{secret, false, false}, {link, false, false}, {filepath.Join(linkDir, "s.jsonl"), false, false},
		{filepath.Join(dir, "d.jsonl"), false, false}, {dir, false, false}, {"", false, false}, {"a.jsonl", false, false},
		{dir + "/../-w/a.jsonl", false, false}, {projects + "/../../out/s.jsonl", false, false}, {good + "\x00", false, false},
		{"/" + strings.Repeat("x", maxField) + ".jsonl", false, false}, {"/dev/zero", false, false}, {filepath.Join(root, "new", "x.jsonl"), false, false},
	} {
		there, err := checkTranscript(projects, tt.path)
		if there != tt.there || (err == nil) != tt.ok {
			t.Errorf("checkTranscript(%.80q) = %v, %v; want %v, ok %v", tt.path, there, err, tt.there, tt.ok)
		}
		if err != nil && strings.Contains(err.Error(), root) {
			t.Errorf("the error %q names the path", err)
		}
	}
	if there, err := checkTranscript(filepath.Join(root, "none", "projects"), filepath.Join(root, "none", "projects", "-w", "a.jsonl")); there || err != nil {
		t.Errorf("before the client wrote anything: %v, %v", there, err)
	}
}

func TestIgnored(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	sub := filepath.Join(root, "repo", "a", "b")
	if err := errors.Join(os.MkdirAll(sub, 0o700), os.MkdirAll(filepath.Join(root, "repo", ".git"), 0o700)); err != nil {
		t.Fatal(err)
	}
	touch := func(dir string) string {
		file := filepath.Join(dir, ".memignore")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	touch(root) // above the repository: not its business
	if ignored(sub) || ignored("") || ignored("a") {
		t.Error("ignored without a file")
	}
	touch(filepath.Join(root, "repo"))
	if !ignored(sub) || !ignored(filepath.Join(root, "repo")) || !ignored(root) {
		t.Error("not ignored with a file")
	}
}
