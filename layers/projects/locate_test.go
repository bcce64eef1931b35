package projects

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDeletedWorktree identifies directories of worktrees that are gone, of a project that is no repository here: they belong to the
// directory that their path names.
func TestDeletedWorktree(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "shop")
	want := Identify(t.Context(), root)
	for _, dir := range []string{".claude/worktrees/fix", ".worktrees/fix", ".claude/worktrees/fix/api/v1", ".worktrees/a/.claude/worktrees/b"} {
		if got := Identify(t.Context(), filepath.Join(root, filepath.FromSlash(dir))); got != want || got.Name != "shop" {
			t.Errorf("%s is the project %+v, want %+v", dir, got, want)
		}
	}
	for _, dir := range []string{".claude/worktrees", ".worktrees", "worktrees/fix", "x.worktrees/fix", ".claude/other/fix"} {
		dir = filepath.Join(root, filepath.FromSlash(dir))
		if got := Identify(t.Context(), dir); got.Identity != "path "+dir {
			t.Errorf("%s is the project %+v", dir, got)
		}
	}
	there := filepath.Join(root, ".worktrees", "there")
	if err := os.MkdirAll(there, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := Identify(t.Context(), there); got != want {
		t.Errorf("a worktree directory without git is the project %+v, want %+v", got, want)
	}
}
