package projects

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// ProjectOf returns the project with an identity, named after the directory dir.
func ProjectOf(identity, dir string) state.Project {
	return state.Project{ID: lane.ProjectOf(identity), Name: baseName(dir), Identity: identity}
}

// baseName returns the last element of a path of any system.
func baseName(dir string) string {
	dir = strings.TrimRight(strings.ReplaceAll(dir, `\`, "/"), "/")
	if i := strings.LastIndexByte(dir, '/'); i >= 0 {
		dir = dir[i+1:]
	}
	if dir == "" {
		return "root"
	}
	return dir
}

// Locate returns the project that the directory dir belongs to: the one it was linked to or found to be
// before, itself or the nearest directory above it; else by the origin of its git repository, its root
// commit, or its path. Known says that this memory has met it before.
func (m Ops) Locate(ctx context.Context, dir string) (p state.Project, known bool, err error) {
	paths, err := m.Paths(ctx)
	if err != nil {
		return state.Project{}, false, err
	}
	p, known = Locate(ctx, paths, dir)
	return p, known, nil
}

// Locate is [Ops.Locate] by what paths say.
func Locate(ctx context.Context, paths []records.PathBody, dir string) (p state.Project, known bool) {
	for d := dir; d != ""; d = Parent(d) {
		if b := lastWord(paths, d); b != nil && (b.Linked || d == dir || IsRepo(d) || !InsideRepo(dir)) {
			return state.Project{ID: b.Project, Name: b.Name, Identity: b.Identity}, true
		}
	}
	return Identify(ctx, dir), false
}

// lastWord returns the newest of what paths say of a directory, nil if they say nothing.
func lastWord(paths []records.PathBody, dir string) *records.PathBody {
	for i := len(paths) - 1; i >= 0; i-- {
		if paths[i].Path == dir {
			return &paths[i]
		}
	}
	return nil
}

// Paths returns what this device knows of directories, later records last.
func (m Ops) Paths(ctx context.Context) ([]records.PathBody, error) {
	var paths []records.PathBody
	err := m.Refs.ViewRetry(ctx, refs.Home, func(tx *refs.Tx) error {
		st, err := m.FoldOutline(ctx, tx, refs.Home)
		if err == nil {
			paths = st.PathsOf(m.Refs.Device().ID)
		}
		return err
	})
	return paths, err
}

// Parent returns the directory above d, "" if there is none.
func Parent(d string) string {
	up := filepath.Dir(d)
	if up == d || up == "." {
		return ""
	}
	return up
}

func IsRepo(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ".git"))
	return err == nil
}

func InsideRepo(dir string) bool {
	for d := dir; d != ""; d = Parent(d) {
		if IsRepo(d) {
			return true
		}
	}
	return false
}

// Identify finds out what a directory is. One that is not there any more, or was never on this machine,
// is its path; a worktree among those is the path of the directory that contains the worktrees.
func Identify(ctx context.Context, dir string) state.Project {
	for d := dir; d != ""; d = Parent(d) {
		if !IsRepo(d) {
			continue
		}
		if origin := originURL(d); origin != "" {
			return ProjectOf("origin "+origin, d)
		}
		if root := rootCommit(ctx, d); root != "" {
			return ProjectOf("root "+root, d)
		}
		return ProjectOf("path "+d, d)
	}
	dir = worktreeOwner(dir)
	return ProjectOf("path "+dir, dir)
}

// worktreeOwner returns the directory whose worktree dir is or lies in, by the places where Claude Code and
// people keep worktrees: .claude/worktrees/NAME and .worktrees/NAME. It returns dir if that is none.
func worktreeOwner(dir string) string {
	slash := string(filepath.Separator)
	for _, place := range []string{filepath.Join(".claude", "worktrees"), ".worktrees"} {
		if owner, _, ok := strings.Cut(dir, slash+place+slash); ok && owner != "" {
			return worktreeOwner(owner)
		}
	}
	return dir
}

// originURL returns the normalised URL of the remote "origin" of the repository in dir, "" if it has
// none.
func originURL(dir string) string {
	f, err := os.Open(filepath.Join(gitDir(dir), "config"))
	if err != nil {
		return "" // no readable configuration is not an origin
	}
	defer f.Close()
	section := ""
	for sc := bufio.NewScanner(f); sc.Scan(); {
		line := strings.TrimSpace(sc.Text())
		if strings.HasPrefix(line, "[") {
			section = strings.ToLower(strings.ReplaceAll(line, " ", ""))
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if ok && section == `[remote"origin"]` && strings.EqualFold(strings.TrimSpace(key), "url") {
			return NormalURL(strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
	return ""
}

// gitDir returns where the configuration of the repository in dir lies: of a linked worktree, the main one's.
func gitDir(dir string) string {
	git := filepath.Join(dir, ".git")
	b, err := os.ReadFile(git)
	if err != nil {
		return git // a directory
	}
	target := strings.TrimSpace(strings.TrimPrefix(string(b), "gitdir:"))
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	if common, err := os.ReadFile(filepath.Join(target, "commondir")); err == nil {
		return filepath.Join(target, strings.TrimSpace(string(common)))
	}
	return target
}

// NormalURL brings the spellings of one remote into one form, host/path: without scheme, user, port,
// trailing ".git" and slashes, the host in lower case. It never keeps a password.
func NormalURL(s string) string {
	if host, path, ok := strings.Cut(s, ":"); ok && !strings.Contains(host, "/") && !strings.HasPrefix(path, "//") &&
		len(host) > 1 {
		s = "ssh://" + host + "/" + strings.TrimPrefix(path, "/")
	}
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	path := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	if u.Host == "" {
		return "/" + path
	}
	return strings.ToLower(u.Hostname()) + "/" + path
}

// rootCommit asks git for the first commit of the repository in dir, "" if it cannot tell.
func rootCommit(ctx context.Context, dir string) string {
	cmd := exec.CommandContext(ctx, "git", "-C", dir, "rev-list", "--max-parents=0", "HEAD")
	out, err := cmd.Output()
	if err != nil {
		return "" // no git, or no commit yet: the path will do
	}
	roots := strings.Fields(string(out))
	slices.Sort(roots)
	if len(roots) == 0 {
		return ""
	}
	return roots[0]
}

// HasProject reports whether there are records of a project.
func (m Ops) HasProject(ctx context.Context, p refs.Project) (has bool, err error) {
	err = m.Refs.ViewRetry(ctx, p, func(tx *refs.Tx) error {
		has = len(tx.Tips()) > 0
		return nil
	})
	return has, err
}

// LinkProject makes dir belong to the project p on this device, from now on.
func (m Ops) LinkProject(ctx context.Context, p state.Project, dir string) error {
	return m.AddPaths(ctx, []records.PathBody{{Path: dir, Project: p.ID, Identity: p.Identity, Name: p.Name,
		Linked: true}})
}

// ErrNotLinked says that a directory was not linked to a project.
var ErrNotLinked = errors.New("it is not linked to a project")

// UnlinkProject takes a link of dir back and returns the project that dir belongs to from now on: the one it
// would be without. What was captured there stays where it is. The error is [ErrNotLinked] if there is no link.
// A dry run writes nothing.
func (m Ops) UnlinkProject(ctx context.Context, dir string, dryRun bool) (p state.Project, err error) {
	paths, err := m.Paths(ctx)
	if err != nil {
		return p, err
	}
	if b := lastWord(paths, dir); b == nil || !b.Linked {
		return p, ErrNotLinked
	}
	p, _ = Locate(ctx, slices.DeleteFunc(slices.Clone(paths), func(b records.PathBody) bool {
		return b.Path == dir && b.Linked
	}), dir)
	if dryRun {
		return p, nil
	}
	return p, m.AddPaths(ctx, []records.PathBody{{Path: dir, Project: p.ID, Identity: p.Identity, Name: p.Name,
		Linked: false}})
}

// Meet remembers that dir is the project p on this device, unless something is known of it: what lies inside it
// and is no repository of its own belongs to p from now on.
func (m Ops) Meet(ctx context.Context, p state.Project, dir string) error {
	return m.AddPaths(ctx, []records.PathBody{{Path: dir, Project: p.ID, Identity: p.Identity, Name: p.Name,
		Linked: false}})
}

// AddPaths remembers which directories belong to which projects, unless that is known.
func (m Ops) AddPaths(ctx context.Context, paths []records.PathBody) error {
	if len(paths) == 0 {
		return nil
	}
	message := "path of " + paths[0].Name
	if len(paths) > 1 {
		message = fmt.Sprintf("paths of %d directories", len(paths))
	}
	var st *state.State
	var on *refs.Tx
	err := m.Refs.Update(ctx, refs.Home, message, func(tx *refs.Tx) (err error) {
		on = tx
		if st, err = m.Fold(ctx, tx, refs.Home); err != nil {
			return err
		}
		known := st.PathsOf(m.Refs.Device().ID)
		for _, b := range paths {
			if knowsPath(known, b) {
				continue
			}
			if _, err := tx.Add(records.KindPath, b); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		m.Advance(st, on)
	}
	return err
}

// knowsPath reports whether the newest word on a directory says the same as b, or was the user's.
func knowsPath(known []records.PathBody, b records.PathBody) bool {
	for _, p := range slices.Backward(known) {
		if p.Path == b.Path {
			return p.Project == b.Project && (p.Linked || !b.Linked)
		}
	}
	return false
}
