package gitstore_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

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
