package gitstore_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

const lane = "refs/heads/p/0123456789abcdef/0123456789abcdef0123456789abcdef"

func newRepo(t testing.TB) *gitstore.Repo {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "memory.git")
	if err := gitstore.Init(dir); err != nil {
		t.Fatal(err)
	}
	r, err := gitstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// needGit skips a test where there is no git, which must not go unseen.
func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED, NOTHING IS KNOWN ABOUT GIT: ", err)
	}
}

// git runs git in dir, with no settings of the user, and returns its output without the last newline.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := gitCommand(dir, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func gitCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada",
		"GIT_COMMITTER_EMAIL=ada@example.org", "GIT_TERMINAL_PROMPT=0")
	return cmd
}

// store writes objects as one pack.
func store(t testing.TB, r *gitstore.Repo, entries ...pack.Entry) {
	t.Helper()
	w, err := pack.Create(r.PackDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// commit stores a tree with the given files and a commit of it, and returns the commit.
func commit(t testing.TB, r *gitstore.Repo, parent pack.ID, message string, files map[string]string) pack.ID {
	t.Helper()
	var entries []pack.Entry
	var root, sub []gitstore.TreeEntry
	for name, content := range files {
		e := pack.Encode(pack.Blob, []byte(content), 0)
		entries = append(entries, e)
		root = append(root, gitstore.TreeEntry{Name: name, ID: e.ID})
		sub = append(sub, gitstore.TreeEntry{Name: name + ".copy", ID: e.ID})
	}
	tree := encodeTree(t, sub)
	root = append(root, gitstore.TreeEntry{Name: "copies", Tree: true, ID: tree.ID})
	top := encodeTree(t, root)
	b, err := gitstore.EncodeCommit(gitstore.Commit{Tree: top.ID, Parent: parent, Name: "Ada", Email: "ada@example.org",
		Time: time.Unix(1700000000, 0), Message: message})
	if err != nil {
		t.Fatal(err)
	}
	c := pack.Encode(pack.Commit, b, 6)
	store(t, r, append(entries, tree, top, c)...)
	return c.ID
}

func encodeTree(t testing.TB, es []gitstore.TreeEntry) pack.Entry {
	t.Helper()
	b, err := gitstore.EncodeTree(es)
	if err != nil {
		t.Fatal(err)
	}
	return pack.Encode(pack.Tree, b, 6)
}

func update(t testing.TB, r *gitstore.Repo, ref string, old, new pack.ID) {
	t.Helper()
	if err := r.Update(t.Context(), ref, old, new); err != nil {
		t.Fatal(err)
	}
}

// history stores n commits on a lane and returns them, the newest last.
func history(t testing.TB, r *gitstore.Repo, n int) (ids []pack.ID) {
	t.Helper()
	var last pack.ID
	for i := range n {
		c := commit(t, r, last, fmt.Sprintf("change %d\n", i), map[string]string{
			"a": strings.Repeat("line of a file that changes little\n", 200) + fmt.Sprint(i), "b": fmt.Sprint("b", i), "a.c": "", "a-c": "x"})
		update(t, r, lane, last, c)
		ids = append(ids, c)
		last = c
	}
	return ids
}

func TestKind(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	ids := history(t, r, 1)
	if _, err := r.Get(ids[0], pack.Tree); !errors.Is(err, gitstore.ErrKind) {
		t.Errorf("Get of a commit as a tree: %v, want ErrKind", err)
	}
	if _, err := r.Tree(ids[0]); !errors.Is(err, gitstore.ErrKind) {
		t.Errorf("Tree of a commit: %v, want ErrKind", err)
	}
	if ok, err := r.Has(ids[0]); !ok || err != nil {
		t.Errorf("Has = %v, %v", ok, err)
	}
	if ok, err := r.Has(pack.ID{1}); ok || err != nil {
		t.Errorf("Has of a missing object = %v, %v", ok, err)
	}
}

// BenchmarkUpdate moves a branch, all synced.
func BenchmarkUpdate(b *testing.B) {
	r := newRepo(b)
	var at pack.ID
	for i := 0; b.Loop(); i++ {
		next := pack.Name(pack.Blob, fmt.Append(nil, i))
		update(b, r, lane, at, next)
		at = next
	}
}

// BenchmarkOpen is what a process pays before it reads a branch and its commit.
func BenchmarkOpen(b *testing.B) {
	r := newRepo(b)
	ids := history(b, r, 30)
	for b.Loop() {
		fresh, err := gitstore.Open(r.Dir())
		if err != nil {
			b.Fatal(err)
		}
		id, err := fresh.Ref(lane)
		if err != nil || id != ids[29] {
			b.Fatal(id, err)
		}
		if _, err := fresh.Commit(id); err != nil {
			b.Fatal(err)
		}
		if err := fresh.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
