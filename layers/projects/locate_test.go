package projects

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// A machine is a home directory in which tests run git.
type machine struct {
	t    *testing.T
	home string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: git is not installed")
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &machine{t, home}
}

func (m *machine) command(ctx context.Context, settings []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.home, "GIT_CONFIG_NOSYSTEM=1"}, settings...)
	return cmd
}

func (m *machine) path(name string) string { return filepath.Join(m.home, filepath.FromSlash(name)) }

func (m *machine) git(dir string, args ...string) {
	m.t.Helper()
	args = append([]string{"-C", m.path(dir), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"}, args...)
	cmd := m.command(m.t.Context(), nil, "git", args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// repo makes a repository with one commit.
func (m *machine) repo(name string) {
	m.t.Helper()
	m.dir(name)
	m.git(name, "init", "-q", "-b", "main")
	m.git(name, "commit", "-q", "--allow-empty", "-m", "first of "+name)
}

func (m *machine) dir(name string) {
	m.t.Helper()
	if err := os.MkdirAll(m.path(name), 0o700); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) write(name, text string) {
	m.t.Helper()
	m.dir(filepath.Dir(name))
	if err := os.WriteFile(m.path(name), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) finder(known ...records.PathBody) *Finder { return NewFinder(known, m.command) }

// locate returns the project of a directory for a finder that knows nothing.
func (m *machine) locate(name string) state.Project {
	p, _ := m.finder().Locate(m.t.Context(), m.path(name))
	return p
}

func known(p state.Project, dir string) records.PathBody {
	return records.PathBody{Path: dir, Project: p.ID, Identity: p.Identity, Name: p.Name}
}

// TestDeletedWorktree identifies directories of worktrees that are gone, of a project that is no repository here: they
// belong to the directory that their path names.
func TestDeletedWorktree(t *testing.T) {
	t.Parallel()
	identify := func(dir string) state.Project {
		p, _ := NewFinder(nil, nil).Locate(t.Context(), dir)
		return p
	}
	root := filepath.Join(t.TempDir(), "shop")
	want := identify(root)
	for _, dir := range []string{".claude/worktrees/fix", ".worktrees/fix", ".claude/worktrees/fix/api/v1", ".worktrees/a/.claude/worktrees/b"} {
		if got := identify(filepath.Join(root, filepath.FromSlash(dir))); got != want || got.Name != "shop" {
			t.Errorf("%s is the project %+v, want %+v", dir, got, want)
		}
	}
	for _, dir := range []string{".claude/worktrees", ".worktrees", "worktrees/fix", "x.worktrees/fix", ".claude/other/fix"} {
		dir = filepath.Join(root, filepath.FromSlash(dir))
		if got := identify(dir); got.Identity != "path "+dir {
			t.Errorf("%s is the project %+v", dir, got)
		}
	}
	there := filepath.Join(root, ".worktrees", "there")
	if err := os.MkdirAll(there, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := identify(there); got != want {
		t.Errorf("a worktree directory without git is the project %+v, want %+v", got, want)
	}
}

// TestWorktrees holds that all worktrees of a repository are one project, named after the main checkout, wherever they
// are and also after they were removed.
func TestWorktrees(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.repo("src/shop")
	places := []string{"src/shop/.claude/worktrees/in-claude", "src/shop-feature", "conductor/workspaces/shop/lisbon",
		"src/shop.worktrees/fix", ".claude-worktrees/shop/calm-otter", "elsewhere/detached", "src/shop-login"}
	for _, w := range places {
		switch {
		case strings.HasSuffix(w, "detached"):
			m.git("src/shop", "worktree", "add", "-q", "--detach", m.path(w))
		case strings.HasSuffix(w, "login"):
			m.git("src/shop", "worktree", "add", "-q", "-b", "feature/login", m.path(w))
		default:
			m.git("src/shop", "worktree", "add", "-q", m.path(w))
		}
	}
	want := m.locate("src/shop")
	if want.Name != "shop" || !strings.HasPrefix(want.Identity, "root ") {
		t.Fatalf("the repository is %+v", want)
	}
	for _, w := range places {
		if got := m.locate(w); got != want {
			t.Errorf("%s is %+v, want %+v", w, got, want)
		}
	}
	// The directories are removed, and git still lists them.
	for _, w := range places {
		if err := os.RemoveAll(m.path(w)); err != nil {
			t.Fatal(err)
		}
	}
	shop := known(want, m.path("src/shop"))
	for _, w := range append(places, "elsewhere/detached/sub/dir") {
		if got, _ := m.finder(shop).Locate(t.Context(), m.path(w)); got != want {
			t.Errorf("%s, removed: %+v, want %+v", w, got, want)
		}
	}
	// Git does not list them any more.
	m.git("src/shop", "worktree", "prune")
	for i, w := range places { // only the place says it now
		got, _ := m.finder(shop).Locate(t.Context(), m.path(w))
		if place := i != 1 && i != 5 && i != 6; (got == want) != place {
			t.Errorf("%s, pruned: %+v", w, got)
		}
	}
	m.repo("src/shop-api")
	if got := m.locate("src/shop-api"); got == want {
		t.Error("shop-api is a repository of its own")
	}
}

// TestTwoOwners holds that a removed directory that may have belonged to two repositories belongs to none.
func TestTwoOwners(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.repo("a/shop")
	m.repo("b/shop")
	a, b := m.locate("a/shop"), m.locate("b/shop")
	dir := m.path("workspaces/shop/oslo")
	got, _ := m.finder(known(a, m.path("a/shop")), known(b, m.path("b/shop"))).Locate(t.Context(), dir)
	if got.Identity != "path "+dir {
		t.Errorf("it is %+v", got)
	}
}

// TestOtherLayouts covers repositories whose git directory is not in their main checkout.
func TestOtherLayouts(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.repo("seed")
	m.git("", "clone", "-q", "--bare", m.path("seed"), m.path("bare/shop.git"))
	m.git("bare/shop.git", "remote", "remove", "origin")
	m.git("bare/shop.git", "worktree", "add", "-q", "-b", "one", m.path("bare/one"))
	if got := m.locate("bare/one"); got.Name != "shop" {
		t.Errorf("a worktree of a bare repository: %+v", got)
	}
	m.git("", "clone", "-q", "--bare", m.path("seed"), m.path("hidden/store/.bare"))
	m.git("hidden/store/.bare", "remote", "remove", "origin")
	m.write("hidden/store/.git", "gitdir: ./.bare\n")
	m.git("hidden/store", "worktree", "add", "-q", "-b", "two", m.path("hidden/store/two"))
	if a, b := m.locate("hidden/store"), m.locate("hidden/store/two"); a != b || a.Name != "store" {
		t.Errorf("a hidden bare repository: %+v and %+v", a, b)
	}
	m.repo("lib")
	m.repo("super")
	m.git("super", "submodule", "add", "-q", m.path("lib"), "vendored")
	sub := m.locate("super/vendored")
	if sub == m.locate("super") || sub.Name != "vendored" {
		t.Errorf("a submodule: %+v", sub)
	}
	m.git("super/vendored", "worktree", "add", "-q", "-b", "three", m.path("sub-three"))
	if got := m.locate("sub-three"); got != sub {
		t.Errorf("a worktree of a submodule: %+v, want %+v", got, sub)
	}
	m.dir("kept")
	m.git("", "init", "-q", "-b", "main", "--separate-git-dir", m.path("kept/away"), m.path("apart"))
	m.git("apart", "commit", "-q", "--allow-empty", "-m", "x")
	if got := m.locate("apart"); got.Name != "apart" || !strings.HasPrefix(got.Identity, "root ") {
		t.Errorf("a separate git directory: %+v", got)
	}
}

// TestNestedRepository holds that a repository inside a known directory is a project of its own, unless the user linked
// the directory; a subdirectory is none.
func TestNestedRepository(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.repo("home")
	m.repo("home/work/api")
	m.dir("home/notes/2026")
	m.dir("home/work/api/v1")
	home := m.locate("home")
	f := m.finder(known(home, m.path("home")))
	at := func(f *Finder, dir string) state.Project {
		p, _ := f.Locate(t.Context(), m.path(dir))
		return p
	}
	if at(f, "home/notes/2026") != home || at(f, "home/work/api") == home || at(f, "home/work/api/v1") != m.locate("home/work/api") {
		t.Errorf("notes %+v, api %+v, v1 %+v", at(f, "home/notes/2026"), at(f, "home/work/api"), at(f, "home/work/api/v1"))
	}
	linked := known(home, m.path("home"))
	linked.Linked = true
	if got := at(m.finder(linked), "home/work/api"); got != home {
		t.Errorf("below a link: %+v", got)
	}
}

// TestSecondRoot holds that a merge of an unrelated history, and other branches, do not change the first commit.
func TestSecondRoot(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	for _, main := range []string{"main", "master", "trunk"} {
		m.dir(main)
		m.git(main, "init", "-q", "-b", main)
		m.git(main, "commit", "-q", "--allow-empty", "-m", "a")
		want := m.locate(main)
		for i := range 4 {
			name := "o" + string(rune('0'+i))
			m.git(main, "checkout", "-q", "--orphan", name)
			m.git(main, "commit", "-q", "--allow-empty", "-m", name)
			if got := m.locate(main); got != want && main != "trunk" {
				t.Errorf("on an orphan branch: %+v, want %+v", got, want)
			}
			m.git(main, "checkout", "-q", main)
			m.git(main, "merge", "-q", "--allow-unrelated-histories", "-m", "m", name)
			if got := m.locate(main); got != want {
				t.Errorf("after %d merges: %+v, want %+v", i+1, got, want)
			}
		}
		m.git(main, "worktree", "add", "-q", "--detach", m.path(main+"-w"), "o2")
		if got := m.locate(main + "-w"); got != want {
			t.Errorf("a worktree of another history: %+v, want %+v", got, want)
		}
	}
}

// TestShallow holds that the oldest commit that a shallow clone has is not the first one.
func TestShallow(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.repo("full")
	m.git("full", "commit", "-q", "--allow-empty", "-m", "second")
	m.git("", "clone", "-q", "--depth", "1", "file://"+m.path("full"), m.path("part"))
	m.git("part", "remote", "remove", "origin")
	if got := m.locate("part"); got.Identity != "path "+m.path("part") {
		t.Errorf("it is %+v", got)
	}
}

// TestCopies holds that copies of a repository without a remote are projects of their own.
func TestCopies(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.repo("template")
	for _, name := range []string{"one", "two"} {
		m.git("", "clone", "-q", m.path("template"), m.path(name))
		m.git(name, "remote", "remove", "origin")
	}
	f := m.finder()
	one, _ := f.Locate(t.Context(), m.path("one"))
	two, _ := f.Locate(t.Context(), m.path("two"))
	if one == two || !strings.HasPrefix(one.Identity, "root ") || two.Identity != "path "+m.path("two") {
		t.Fatalf("one %+v, two %+v", one, two)
	}
	// The same in another run, which knows the first.
	f = m.finder(known(one, m.path("one")))
	if got, _ := f.Locate(t.Context(), m.path("two")); got != two {
		t.Errorf("two is %+v, want %+v", got, two)
	}
	// A worktree of the first is the first, and a directory that moved is still the same.
	m.git("one", "worktree", "add", "-q", m.path("one-w"))
	if got, _ := f.Locate(t.Context(), m.path("one-w")); got != one {
		t.Errorf("its worktree is %+v", got)
	}
	if err := os.Rename(m.path("one"), m.path("moved")); err != nil {
		t.Fatal(err)
	}
	if got, _ := m.finder(known(one, m.path("one"))).Locate(t.Context(), m.path("moved")); got.ID != one.ID {
		t.Errorf("moved, it is %+v", got)
	}
	// With remotes they are what the remotes say.
	m.git("moved", "remote", "add", "origin", "git@github.com:a/one")
	m.git("two", "remote", "add", "origin", "git@github.com:a/two")
	if a, b := m.locate("moved"), m.locate("two"); a.Identity != "origin github.com/a/one" || b.Identity != "origin github.com/a/two" {
		t.Errorf("%+v and %+v", a, b)
	}
}
