package capture

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

func TestIsWithin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		root, path string
		want       bool
	}{
		{"/w/shop", "/w/shop", true}, {"/w/shop", "/w/shop/api/v1", true}, {"/", "/w", true},
		{"/w/shop", "/w/shopping", false}, {"/w/shop", "/w", false}, {"/w/shop", "/w/shop/../other", false},
		{"/w/shop", "relative", false}, {"/w/shop", "/w/shop/..x", true},
	} {
		if got := isWithin(filepath.FromSlash(c.root), filepath.FromSlash(c.path)); got != c.want {
			t.Errorf("isWithin(%q, %q) = %v, want %v", c.root, c.path, got, c.want)
		}
	}
}

// TestNestedDirs lists the directories of the client that may be nested in those of a project, and no others.
func TestNestedDirs(t *testing.T) {
	t.Parallel()
	all := t.TempDir()
	for _, name := range []string{"-w-shop", "-w-shop-api", "-w-shop-old", "-w-shopping", "-w-other", "-w-shop-read"} {
		if err := os.Mkdir(filepath.Join(all, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(all, "-w-shop-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(all, "-w-other"), filepath.Join(all, "-w-shop-link")); err != nil {
		t.Skip(err)
	}
	files := map[string]ClientFile{"s": {Path: filepath.Join(all, "-w-shop-read", "s.jsonl")}}
	if got, others := unreadDirs(all, []string{"/w/shop"}, files); !slices.Equal(got, []string{"-w-shop-api", "-w-shop-old"}) ||
		!slices.Equal(others, []string{"-w-other", "-w-shop", "-w-shopping"}) {
		t.Errorf("nested are %q, and not nested %q", got, others)
	}
	if got, others := unreadDirs(filepath.Join(all, "gone"), []string{"/w/shop"}, nil); got != nil || others != nil {
		t.Errorf("in a directory that is gone: %q, %q", got, others)
	}
}

// TestRootsOf takes the known directories of a project, the working directory and the root of its repository.
func TestRootsOf(t *testing.T) {
	t.Parallel()
	repo := t.TempDir()
	dir := filepath.Join(repo, "api", "v1")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(repo, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	known := []records.PathBody{{Path: "/w/shop", Project: "p"}, {Path: "/w/other", Project: "q"}}
	want := []string{"/w/shop", repo, dir}
	slices.Sort(want)
	if got := rootsOf(known, state.Project{ID: "p"}, dir); !slices.Equal(got, want) {
		t.Errorf("roots are %q, want %q", got, want)
	}
	if got := rootsOf(known, state.Project{ID: "p"}, ""); !slices.Equal(got, []string{"/w/shop"}) {
		t.Errorf("without a working directory: %q", got)
	}
}
