package projects

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// worktreeOwner returns the directory of the repository whose worktree the removed directory dir was, or dir. A
// repository says so itself until it is pruned. Otherwise the path must be one where tools keep the worktrees of a
// repository. If two repositories qualify, none does.
func (f *Finder) worktreeOwner(ctx context.Context, dir string) string {
	if owner := namedOwner(dir); owner != dir {
		return owner
	}
	var found []string
	for _, checkout := range f.checkouts(dir) {
		r := f.repo(ctx, checkout)
		switch {
		case slices.ContainsFunc(worktreesOf(r), func(w string) bool { return w == dir || isBelow(w, dir) }):
			return r.main
		case !slices.Contains(found, r.main) && isPlacedWorktree(r, dir):
			found = append(found, r.main)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return f.besideOwner(dir)
}

// besideOwner returns the known directory REPOSITORY of a removed worktree in REPOSITORY-worktrees, or dir. The directory
// itself may be gone too, or be of another machine.
func (f *Finder) besideOwner(dir string) string {
	for d := Parent(dir); d != ""; d = Parent(d) {
		base := filepath.Base(d)
		for _, place := range worktreePlaces {
			name, ok := strings.CutSuffix(base, place)
			if !ok || len(name) < 2 || !strings.ContainsRune(nameEnds, rune(name[len(name)-1])) {
				continue
			}
			owner := filepath.Join(filepath.Dir(d), name[:len(name)-1])
			if _, located := f.located[owner]; located || f.record(owner) != nil {
				return owner
			}
		}
	}
	return dir
}

// namedOwner returns the directory that owns the worktree dir is in, by the usual places .claude/worktrees/NAME and
// .worktrees/NAME. It returns dir if dir is not in one.
func namedOwner(dir string) string {
	slash := string(filepath.Separator)
	for _, place := range []string{filepath.Join(".claude", "worktrees"), ".worktrees"} {
		if owner, _, ok := strings.Cut(dir, slash+place+slash); ok && owner != "" {
			return namedOwner(owner)
		}
	}
	return dir
}

// checkouts returns the roots of the repositories that a removed directory may have been a worktree of: those that this
// device knows, and those next to the directory or to one of its parents.
func (f *Finder) checkouts(dir string) (out []string) {
	add := func(d string) {
		if !slices.Contains(out, d) && IsRepo(d) {
			out = append(out, d)
		}
	}
	for _, b := range slices.Concat(f.Known, f.learned) {
		for d := b.Path; d != ""; d = Parent(d) {
			if IsRepo(d) {
				add(d)
				break
			}
		}
	}
	for d := dir; d != ""; d = Parent(d) {
		name := filepath.Base(d)
		for i := range name {
			if i > 0 && strings.ContainsRune(nameEnds, rune(name[i])) {
				add(filepath.Join(filepath.Dir(d), name[:i]))
			}
		}
	}
	return out
}

// nameEnds are the characters that end the name of a repository in the name of a worktree next to it.
const nameEnds = "-_.+@ "

// worktreesOf returns the directories of the worktrees that a repository lists, also of those that are gone.
func worktreesOf(r repo) (out []string) {
	lists, err := filepath.Glob(filepath.Join(r.git, "worktrees", "*", "gitdir"))
	if err != nil {
		return nil // a path that is no pattern
	}
	for _, name := range lists {
		if b, err := os.ReadFile(name); err == nil {
			out = append(out, filepath.Dir(gitPath(filepath.Dir(name), string(b))))
		}
	}
	return out
}

func isBelow(root, dir string) bool { return strings.HasPrefix(dir, root+string(filepath.Separator)) }

// worktreePlaces are the names of directories in which tools keep the worktrees of a repository, in a directory with its
// name or as REPOSITORY-worktrees.
var worktreePlaces = []string{"worktrees", ".worktrees", ".claude-worktrees", "workspaces", "worktree", ".trees"}

// isPlacedWorktree reports whether dir is where tools keep the worktrees of r.
func isPlacedWorktree(r repo, dir string) bool {
	repoName := filepath.Base(r.main)
	elements := strings.Split(filepath.ToSlash(dir), "/")
	for i, e := range elements[:len(elements)-1] {
		if i > 0 && e == repoName && slices.Contains(worktreePlaces, elements[i-1]) {
			return true // worktrees/REPOSITORY/NAME
		}
		if rest, ok := strings.CutPrefix(e, repoName); ok && len(rest) > 1 && strings.ContainsRune(nameEnds, rune(rest[0])) &&
			slices.Contains(worktreePlaces, rest[1:]) {
			return true // REPOSITORY-worktrees/NAME
		}
	}
	return false
}
