package projects

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// A Gone is a project of this device whose directories do not exist any more.
type Gone struct {
	Of   state.Project
	Dirs []string
}

// GoneProjects returns the projects without a repository whose directories are all gone, in the order in which they
// became known. A project to which the user linked one of them counts as right.
func GoneProjects(ctx context.Context, db *state.DB) (out []Gone, err error) {
	paths, err := Paths(ctx, db)
	if err != nil {
		return nil, err
	}
	exist := map[refs.Project]bool{}
	for _, b := range newest(paths) {
		_, err := os.Lstat(localPath(b.Path))
		if b.Linked || !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(b.Identity, "path ") {
			exist[b.Project] = true
			continue
		}
		at := slices.IndexFunc(out, func(g Gone) bool { return g.Of.ID == b.Project })
		if at < 0 {
			at = len(out)
			out = append(out, Gone{Of: projectOf(&b)})
		}
		out[at].Dirs = append(out[at].Dirs, b.Path)
	}
	return slices.DeleteFunc(out, func(g Gone) bool { return exist[g.Of.ID] }), nil
}

// DirsOf returns the directories of a project on this device.
func DirsOf(ctx context.Context, db *state.DB, p refs.Project) (out []string, err error) {
	paths, err := Paths(ctx, db)
	for _, b := range newest(paths) {
		if b.Project == p {
			out = append(out, b.Path)
		}
	}
	return out, err
}

// commonBranches are names that say nothing about a repository.
var commonBranches = []string{"", "HEAD", "main", "master", "develop", "dev", "trunk"}

// WereWorktrees reports whether removed directories may have been worktrees of the repository of dir: its path says so,
// or a session there was on a branch that this repository has or had, and no other one that this device knows.
func (f *Finder) WereWorktrees(ctx context.Context, dir string, gone []string, branches []string) bool {
	r := f.repo(ctx, CheckoutOf(dir))
	for _, g := range gone {
		g = localPath(g)
		for _, branch := range branches {
			if f.worktreeOwner(ctx, g, branch) == r.main {
				return true
			}
			if slices.Contains(commonBranches, branch) || !slices.Contains(f.branches(ctx, r), branch) {
				continue
			}
			if !slices.ContainsFunc(f.checkouts(g), func(other string) bool {
				o := f.repo(ctx, other)
				return o.main != r.main && slices.Contains(f.branches(ctx, o), branch)
			}) {
				return true
			}
		}
	}
	return false
}
