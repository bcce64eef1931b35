package capture

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// TestClientDirs reads the directories of sessions: links to directories elsewhere, but no link to another of them and no file.
func TestClientDirs(t *testing.T) {
	t.Parallel()
	claude, away := t.TempDir(), t.TempDir()
	all := filepath.Join(claude, "projects")
	for _, name := range []string{"-w-shop/s1/subagents", "-w-other"} {
		if err := os.MkdirAll(filepath.Join(all, filepath.FromSlash(name)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"-w-shop-file": "{}", "-w-shop/s1.jsonl": "{}", "-w-shop/empty.jsonl": "", "-w-shop/._s1.jsonl": "{}", "-w-shop/notes.txt": "{}"} {
		if err := os.WriteFile(filepath.Join(all, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"-w-same": filepath.Join(all, "-w-other"), "-w-away": away, "-w-gone": filepath.Join(away, "gone")} {
		if err := os.Symlink(to, filepath.Join(all, name)); err != nil {
			t.Skip(err)
		}
	}
	dirs, err := clientDirs(ListOptions{Claude: claude, SessionDir: away})
	var names []string
	for _, d := range dirs {
		names = append(names, filepath.Base(d.path))
	}
	if want := []string{"-w-away", "-w-other", "-w-shop", filepath.Base(away)}; err != nil || !slices.Equal(names, want) {
		t.Fatalf("directories are %q, %v, want %q", names, err, want)
	}
	shop := dirs[2]
	path := filepath.Join(shop.path, "s1.jsonl")
	if len(shop.files) != 2 || shop.files[0].stat() || !shop.files[1].stat() || shop.files[1].Path != path || !shop.files[1].Dir || shop.files[1].Size != 2 || !slices.Equal(shop.parents, []string{path}) ||
		!slices.Equal(shop.hidden, []string{filepath.Join(shop.path, "._s1.jsonl")}) || shop.err != nil {
		t.Errorf("%+v", shop)
	}
	if dirs, err := clientDirs(ListOptions{Claude: filepath.Join(claude, "gone")}); len(dirs) > 0 || err != nil {
		t.Errorf("of a client that is gone: %v, %v", dirs, err)
	}
}

// TestClientNames takes the known directories of a project, the working directory and the root of its repository.
func TestClientNames(t *testing.T) {
	t.Parallel()
	repo := t.TempDir()
	dir := filepath.Join(repo, "api", "v1")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(repo, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	find := projects.NewFinder([]records.PathBody{{Path: "/w/shop", Project: "p"}, {Path: "/w/other", Project: "q"}}, nil)
	for at, want := range map[string][]string{dir: {"/w/shop", repo, dir}, "": {"/w/shop"}, "relative": {"/w/shop"}} {
		own, prefixes := clientNames(find, state.Project{ID: "p"}, at)
		for _, root := range want {
			if !own[ClientDir(root)] || !slices.Contains(prefixes, clientPrefix(root)) {
				t.Errorf("in %q %q is not one of %v, %q", at, root, own, prefixes)
			}
		}
		if len(own) != len(want) || len(prefixes) != len(want) {
			t.Errorf("in %q there are %v, %q", at, own, prefixes)
		}
	}
}
