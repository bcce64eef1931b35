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

func TestGitReadsOurs(t *testing.T) {
	t.Parallel()
	needGit(t)
	r := newRepo(t)
	ids := history(t, r, 5)
	if err := r.SetHEAD(lane); err != nil {
		t.Fatal(err)
	}
	if out := git(t, r.Dir(), "fsck", "--strict", "--full", "--no-dangling"); out != "" {
		t.Errorf("git fsck: %s", out)
	}
	if out := git(t, r.Dir(), "log", "--format=%H %s"); !strings.HasPrefix(out, ids[4].String()+" change 4\n") || strings.Count(out, "\n") != 4 {
		t.Errorf("git log: %s", out)
	}
	n := 0
	for id, err := range r.Packs().All() {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if out := git(t, r.Dir(), "cat-file", "-t", id.String()); out == "" {
			t.Errorf("git does not know %s", id)
		}
	}
	if out := git(t, r.Dir(), "cat-file", "--batch-all-objects", "--batch-check"); strings.Count(out, "\n")+1 != n {
		t.Errorf("git knows %d objects, we know %d", strings.Count(out, "\n")+1, n)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, r.Dir(), "clone", "-q", "--no-local", r.Dir(), clone)
	if b, err := os.ReadFile(filepath.Join(clone, "b")); string(b) != "b4" || err != nil {
		t.Errorf("clone holds %q, %v", b, err)
	}
	if n, err := pack.MergeAll(r.PackDir(), "test"); n != 5 || err != nil {
		t.Errorf("MergeAll = %d, %v", n, err)
	}
	if out := git(t, r.Dir(), "fsck", "--strict", "--full", "--no-dangling"); out != "" {
		t.Errorf("git fsck after the merge: %s", out)
	}
}

// readAll checks that every commit of ids and all below it can be read.
func readAll(t *testing.T, r *gitstore.Repo, ids []pack.ID) {
	t.Helper()
	for _, id := range ids {
		c, err := r.Commit(id)
		if err != nil {
			t.Fatal(err)
		}
		readTree(t, r, c.Tree)
	}
}

func readTree(t *testing.T, r *gitstore.Repo, id pack.ID) {
	t.Helper()
	es, err := r.Tree(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		if e.Tree {
			readTree(t, r, e.ID)
		} else if _, err := r.Get(e.ID, pack.Blob); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWeReadGits(t *testing.T) {
	t.Parallel()
	needGit(t)
	for name, args := range map[string][]string{
		"gc":     {"-c", "pack.window=10", "gc", "-q"},
		"repack": {"-c", "pack.window=10", "repack", "-q", "-adf", "--depth=50"},
		"loose":  nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			ids := history(t, r, 30)
			if err := r.SetHEAD(lane); err != nil {
				t.Fatal(err)
			}
			readAll(t, r, ids[:3]) // the packs are open and known
			if args == nil {
				unpack(t, r)
			} else {
				git(t, r.Dir(), args...)
				git(t, r.Dir(), "pack-refs", "--all")
			}
			readAll(t, r, ids)
			fresh, err := gitstore.Open(r.Dir())
			if err != nil {
				t.Fatal(err)
			}
			defer fresh.Close()
			readAll(t, fresh, ids)
			if id, err := fresh.Ref(lane); id != ids[29] || err != nil {
				t.Errorf("Ref = %s, %v, want %s", id, err, ids[29])
			}
			missing := pack.Name(pack.Blob, []byte("missing"))
			if _, err := fresh.Get(missing, pack.Blob); !errors.Is(err, pack.ErrNotFound) {
				t.Errorf("Get of a missing object: %v", err)
			}
			git(t, r.Dir(), "-c", "pack.window=5", "repack", "-q", "-adf", "--depth=3") // while fresh has all of it open
			readAll(t, fresh, ids)
			more := commit(t, r, ids[29], "one more\n", map[string]string{"z": "z"})
			update(t, r, lane, ids[29], more)
			readAll(t, fresh, []pack.ID{more})
			// Packs with deltas stay whole, others are merged around them.
			if _, err := pack.MergeAll(r.PackDir(), "test"); err != nil {
				t.Fatal(err)
			}
			readAll(t, fresh, append(ids, more))
			if out := git(t, r.Dir(), "fsck", "--strict", "--full", "--no-dangling"); out != "" {
				t.Errorf("git fsck: %s", out)
			}
		})
	}
}

// unpack turns all packs into loose objects.
func unpack(t *testing.T, r *gitstore.Repo) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(r.PackDir(), "*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range packs {
		aside := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := os.Rename(p, aside); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(strings.TrimSuffix(p, ".pack") + ".idx"); err != nil {
			t.Fatal(err)
		}
		cmd := gitCommand(r.Dir(), "unpack-objects", "-q")
		if cmd.Stdin, err = os.Open(aside); err != nil {
			t.Fatal(err)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git unpack-objects: %v\n%s", err, out)
		}
	}
}

func TestDamagedLoose(t *testing.T) {
	t.Parallel()
	needGit(t)
	r := newRepo(t)
	ids := history(t, r, 1)
	unpack(t, r)
	s := ids[0].String()
	path := filepath.Join(r.Dir(), "objects", s[:2], s[2:])
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for n := range good {
		bad := append([]byte(nil), good...)
		bad[n] ^= 0x10
		for _, b := range [][]byte{bad, good[:n]} {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := r.Get(ids[0], pack.Commit)
			if err == nil && pack.Name(pack.Commit, got) == ids[0] {
				continue // the flipped bit is one of those that zlib ignores
			}
			if !errors.Is(err, pack.ErrCorrupt) || errors.Is(err, pack.ErrNotFound) {
				t.Fatalf("Get with byte %d damaged: %v, want ErrCorrupt", n, err)
			}
		}
	}
}

// The pack with deltas that a repository has open is replaced before its deltas were ever needed.
func TestGitReplacesDeltas(t *testing.T) {
	t.Parallel()
	needGit(t)
	r := newRepo(t)
	ids := history(t, r, 30)
	git(t, r.Dir(), "-c", "pack.window=10", "repack", "-q", "-adf", "--depth=50")
	c, err := r.Commit(ids[29]) // commits are whole, so this opens the pack and no more
	if err != nil {
		t.Fatal(err)
	}
	git(t, r.Dir(), "-c", "pack.window=5", "repack", "-q", "-adf", "--depth=2")
	readTree(t, r, c.Tree)
	readAll(t, r, ids)
}

// A signature made over Payload is what git verifies.
func TestGitVerifiesSignature(t *testing.T) {
	t.Parallel()
	needGit(t)
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("SKIPPED, NOTHING IS KNOWN ABOUT SIGNATURES: ", err)
	}
	r := newRepo(t)
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	c, err := r.Commit(history(t, r, 1)[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", key)
	cmd.Stdin = strings.NewReader(string(c.Payload()))
	sig, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	c.Signature = string(sig)
	b, err := gitstore.EncodeCommit(c)
	if err != nil {
		t.Fatal(err)
	}
	e := pack.Encode(pack.Commit, b, 6)
	store(t, r, e)
	pub, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	write(t, key+".allowed", "ada@example.org "+string(pub))
	git(t, r.Dir(), "-c", "gpg.format=ssh", "-c", "gpg.ssh.allowedSignersFile="+key+".allowed", "verify-commit", e.ID.String())
	if got, err := r.Commit(e.ID); err != nil || got != c {
		t.Errorf("Commit = %+v, %v, want %+v", got, err, c)
	}
}
