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

// baseName returns the last element of a path of any operating system.
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

// Locate returns the project of the directory dir: that of dir or of its nearest known parent, else one identified
// by the origin of its git repository, its root commit, or its path. Known says that this memory knows the project.
func (m Ops) Locate(ctx context.Context, dir string) (p state.Project, known bool, err error) {
	paths, err := m.Paths(ctx)
	if err != nil {
		return state.Project{}, false, err
	}
	p, known = Locate(ctx, paths, dir)
	return p, known, nil
}

// Locate is [Ops.Locate] with the given paths.
func Locate(ctx context.Context, paths []records.PathBody, dir string) (p state.Project, known bool) {
	for d := dir; d != ""; d = Parent(d) {
		if b := lastWord(paths, d); b != nil && (b.Linked || d == dir || IsRepo(d) || !InsideRepo(dir)) {
			return state.Project{ID: b.Project, Name: b.Name, Identity: b.Identity}, true
		}
	}
	return Identify(ctx, dir), false
}

// lastWord returns the newest record of a directory in paths, nil if there is none.
func lastWord(paths []records.PathBody, dir string) *records.PathBody {
	for i := len(paths) - 1; i >= 0; i-- {
		if paths[i].Path == dir {
			return &paths[i]
		}
	}
	return nil
}

// Paths returns the directories known to this device, later records last.
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

// Parent returns the parent directory of d, "" if there is none.
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

// Identify identifies the project of a directory. A directory that does not exist is identified by its path; a
// deleted worktree by the directory that contains the worktrees.
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

// worktreeOwner returns the directory that owns the worktree dir is in, by the usual places .claude/worktrees/NAME
// and .worktrees/NAME. It returns dir if dir is not in one.
func worktreeOwner(dir string) string {
	slash := string(filepath.Separator)
	for _, place := range []string{filepath.Join(".claude", "worktrees"), ".worktrees"} {
		if owner, _, ok := strings.Cut(dir, slash+place+slash); ok && owner != "" {
			return worktreeOwner(owner)
		}
	}
	return dir
}

// originURL returns the normalised URL of the remote "origin" of the repository in dir, "" if it has none.
func originURL(dir string) string {
	f, err := os.Open(filepath.Join(gitDir(dir), "config"))
	if err != nil {
		return "" // unreadable configuration
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

// gitDir returns the directory with the configuration of the repository in dir, for a linked worktree that of the
// main one.
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

// NormalURL normalises the URL of a remote to host/path: without scheme, user, password, port, trailing ".git" and
// slashes, and with the host in lower case.
func NormalURL(s string) string {
	if host, path, ok := strings.Cut(s, ":"); ok && !strings.Contains(host, "/") && !strings.HasPrefix(path, "//") &&
		len(host) > 1 {
		s = "ssh://" + host + "/" + strings.TrimPrefix(path, "/")
	}
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	if u.Opaque != "" { // a host or a drive of one letter
		return u.Scheme + "/" + strings.TrimSuffix(strings.Trim(u.Opaque, "/"), ".git")
	}
	path := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	if u.Host == "" && path == "" {
		return "" // it would be the URL of every such repository
	}
	if u.Host == "" {
		return "/" + path
	}
	return strings.ToLower(u.Hostname()) + "/" + path
}

// rootCommit returns the first commit of the repository in dir according to git, "" if there is none.
func rootCommit(ctx context.Context, dir string) string {
	cmd := exec.CommandContext(ctx, "git", "-C", dir, "rev-list", "--max-parents=0", "HEAD")
	out, err := cmd.Output()
	if err != nil {
		return "" // no git or no commit: use the path
	}
	roots := strings.Fields(string(out))
	slices.Sort(roots)
	if len(roots) == 0 {
		return ""
	}
	return roots[0]
}

// HasProject reports whether the memory has records of a project.
func (m Ops) HasProject(ctx context.Context, p refs.Project) (has bool, err error) {
	err = m.Refs.ViewRetry(ctx, p, func(tx *refs.Tx) error {
		has = len(tx.Tips()) > 0
		return nil
	})
	return has, err
}

// LinkProject links dir to the project p on this device.
func (m Ops) LinkProject(ctx context.Context, p state.Project, dir string) error {
	return m.AddPaths(ctx, []records.PathBody{{Path: dir, Project: p.ID, Identity: p.Identity, Name: p.Name,
		Linked: true}})
}

// ErrNotLinked reports a directory that is not linked to a project.
var ErrNotLinked = errors.New("it is not linked to a project")

// UnlinkProject removes the link of dir and returns its project without the link. Captured sessions stay in their
// project. The error is [ErrNotLinked] if there is no link. A dry run writes nothing.
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
	b := records.PathBody{Path: dir, Project: p.ID, Identity: p.Identity, Name: p.Name}
	return p, m.addPaths(ctx, []records.PathBody{b}, hasPath)
}

// Meet records that dir belongs to the project p on this device, unless dir has a record. It also applies to
// subdirectories that are not repositories.
func (m Ops) Meet(ctx context.Context, p state.Project, dir string) error {
	return m.AddPaths(ctx, []records.PathBody{{Path: dir, Project: p.ID, Identity: p.Identity, Name: p.Name,
		Linked: false}})
}

// AddPaths records the projects of directories, unless they are known.
func (m Ops) AddPaths(ctx context.Context, paths []records.PathBody) error {
	return m.addPaths(ctx, paths, knowsPath)
}

// addPaths records the projects of directories, unless has reports that the known ones include it.
func (m Ops) addPaths(ctx context.Context, paths []records.PathBody,
	has func([]records.PathBody, records.PathBody) bool) error {
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
			if has(known, b) {
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

// hasPath reports whether the newest record of the directory equals b.
func hasPath(known []records.PathBody, b records.PathBody) bool {
	p := lastWord(known, b.Path)
	return p != nil && p.Project == b.Project && p.Linked == b.Linked
}

// knowsPath reports whether the newest record of the directory equals b or is a link by the user.
func knowsPath(known []records.PathBody, b records.PathBody) bool {
	p := lastWord(known, b.Path)
	return p != nil && p.Project == b.Project && (p.Linked || !b.Linked)
}
