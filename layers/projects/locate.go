package projects

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// ProjectOf returns the project with an identity, named after the directory dir.
func ProjectOf(identity, dir string) state.Project {
	return state.Project{ID: lane.ProjectOf(identity), Name: baseName(dir), Identity: identity}
}

// A Command prepares a program to run. A [Finder] without one works as on a machine without git.
type Command func(ctx context.Context, settings []string, name string, args ...string) *exec.Cmd

// A Finder finds the projects of directories. It asks git once for each repository, so it must not outlive a command.
type Finder struct {
	Known []records.PathBody // the directories known to this device, later records last

	command Command
	index   map[string]int     // the newest record in Known by the portable path of its directory
	learned []records.PathBody // located by this finder
	repos   map[string]repo    // by the root of a checkout
	located map[string]state.Project
}

// NewFinder returns a finder that knows the directories of paths.
func NewFinder(paths []records.PathBody, command Command) *Finder {
	f := &Finder{Known: paths, command: command, index: map[string]int{}, repos: map[string]repo{},
		located: map[string]state.Project{}}
	for i, b := range paths {
		f.index[portablePath(b.Path)] = i
	}
	return f
}

// With returns a finder to which dir is known as a directory of the project p.
func (f *Finder) With(dir string, p state.Project) *Finder {
	return NewFinder(append(slices.Clone(f.Known), records.PathBody{Path: dir, Project: p.ID, Identity: p.Identity,
		Name: p.Name}), f.command)
}

// LoadFinder returns a finder with the directories known to this device.
func LoadFinder(ctx context.Context, db *state.DB) (*Finder, error) {
	paths, err := Paths(ctx, db)
	return NewFinder(paths, db.Opts.World.Command), err
}

// Locate is [Finder.Locate] for a single directory.
func Locate(ctx context.Context, db *state.DB, dir string) (p state.Project, known bool, err error) {
	f, err := LoadFinder(ctx, db)
	if err != nil {
		return state.Project{}, false, err
	}
	p, known = f.Locate(ctx, dir)
	return p, known, nil
}

// Locate returns the project of the directory dir: that of dir or of its nearest known parent in the same repository,
// that of the main checkout if dir is in another worktree of a repository, else one identified by the remote of the
// repository, its first commit, or its path. Known says that this memory knows dir or such a parent.
func (f *Finder) Locate(ctx context.Context, dir string) (p state.Project, known bool) {
	if b := f.nearest(dir); b != nil {
		return projectOf(b), true
	}
	if p, ok := f.located[dir]; ok {
		return p, false
	}
	p = f.identify(ctx, dir)
	f.located[dir] = p
	f.learned = append(f.learned, records.PathBody{Path: dir, Project: p.ID, Identity: p.Identity, Name: p.Name})
	return p, false
}

func projectOf(b *records.PathBody) state.Project {
	return state.Project{ID: b.Project, Name: b.Name, Identity: b.Identity}
}

// nearest returns the record that decides the project of a directory, nil if there is none: that of the directory, a
// link of a parent by the user, or that of the root of its repository. Outside of repositories that of any parent.
func (f *Finder) nearest(dir string) *records.PathBody {
	inside, crossed := InsideRepo(dir), false // crossed: the root of the repository of dir was passed
	for d := dir; d != ""; d = Parent(d) {
		root := IsRepo(d)
		if b := f.record(d); b != nil && (b.Linked || d == dir || root && !crossed || !inside) {
			return b
		}
		crossed = crossed || root
	}
	return nil
}

// record returns the newest known record of a directory, nil if there is none.
func (f *Finder) record(dir string) *records.PathBody {
	if i, ok := f.index[portablePath(dir)]; ok {
		return &f.Known[i]
	}
	return nil
}

// identify identifies the project of a directory that no record decides.
func (f *Finder) identify(ctx context.Context, dir string) state.Project {
	if _, err := os.Lstat(dir); err != nil {
		if owner := f.worktreeOwner(ctx, dir); owner != dir {
			p, _ := f.Locate(ctx, owner)
			return p
		}
	}
	for d := dir; d != ""; d = Parent(d) {
		if IsRepo(d) {
			return f.identifyRepo(ctx, f.repo(ctx, d))
		}
	}
	if owner := namedOwner(dir); owner != dir {
		p, _ := f.Locate(ctx, owner)
		return p
	}
	return ProjectOf("path "+portablePath(dir), dir)
}

// identifyRepo identifies the project of a repository. Its main checkout may be known, or linked by the user.
func (f *Finder) identifyRepo(ctx context.Context, r repo) state.Project {
	if b := f.record(r.main); b != nil {
		return projectOf(b)
	}
	if url := f.remoteOf(ctx, r); url != "" {
		return ProjectOf("origin "+url, r.main)
	}
	root := f.rootCommit(ctx, r)
	if root == "" {
		return ProjectOf("path "+portablePath(r.main), r.main)
	}
	p := ProjectOf("root "+root, r.main)
	if other := f.otherCheckout(ctx, p.ID, r); other != "" {
		return ProjectOf("path "+portablePath(r.main), r.main)
	}
	return p
}

// otherCheckout returns a directory of the project p that exists and is in another repository than r. Copies of a
// template have the same first commit; without a remote, nothing says whether they are one project.
func (f *Finder) otherCheckout(ctx context.Context, p refs.Project, r repo) string {
	for _, b := range slices.Concat(f.Known, f.learned) {
		if b.Project != p || b.Linked {
			continue
		}
		for d := b.Path; d != ""; d = Parent(d) {
			if IsRepo(d) {
				if f.repo(ctx, d).main != r.main {
					return b.Path
				}
				break
			}
		}
	}
	return ""
}

// Parent returns the parent directory of d, "" if there is none.
func Parent(d string) string {
	up := filepath.Dir(d)
	if up == d || up == "." {
		return ""
	}
	return up
}

// IsRepo reports whether a directory is the root of a checkout.
func IsRepo(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ".git"))
	return err == nil
}

// InsideRepo reports whether a directory or one of its parents is the root of a checkout.
func InsideRepo(dir string) bool {
	for d := dir; d != ""; d = Parent(d) {
		if IsRepo(d) {
			return true
		}
	}
	return false
}

// CheckoutOf returns the root of the checkout that contains dir, or dir.
func CheckoutOf(dir string) string {
	for d := dir; d != ""; d = Parent(d) {
		if IsRepo(d) {
			return d
		}
	}
	return dir
}

// Checkouts returns the root of the checkout that contains dir, and the main checkout of its repository. Both are dir if
// it is in none.
func Checkouts(dir string) (root, main string) {
	root = CheckoutOf(dir)
	if main = openRepo(root).main; main == "" {
		main = root
	}
	return root, main
}
