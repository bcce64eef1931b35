package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

// childRepo names a repository in which this binary moves the lane until it is killed.
const childRepo = "GITSTORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childRepo); dir != "" {
		if err := moveForEver(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func moveForEver(dir string) error {
	if err := gitstore.Init(dir); err != nil {
		return err
	}
	r, err := gitstore.Open(dir)
	if err != nil {
		return err
	}
	for {
		old, err := r.Ref(lane)
		if err != nil {
			return err
		}
		new := pack.Name(pack.Blob, old[:])
		if err := r.Update(context.Background(), lane, old, new); err != nil {
			return err
		}
		fmt.Println(new)
	}
}

func ticket(r *gitstore.Repo) string {
	return filepath.Join(r.Dir(), "mem", strings.ReplaceAll(lane, "/", "%2F"))
}

func lockOf(r *gitstore.Repo) string { return filepath.Join(r.Dir(), lane+".lock") }

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(from, to); err != nil {
		t.Skip("no hard links here: ", err)
	}
}

var one, two, three = pack.ID{1}, pack.ID{2}, pack.ID{3}

func TestUpdate(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	if id, err := r.Ref(lane); !id.IsZero() || err != nil {
		t.Errorf("Ref of no branch = %s, %v", id, err)
	}
	if err := r.Update(t.Context(), lane, one, two); !errors.Is(err, gitstore.ErrMoved) {
		t.Errorf("Update of no branch: %v, want ErrMoved", err)
	}
	update(t, r, lane, pack.ID{}, one)
	update(t, r, lane, one, two)
	for _, old := range []pack.ID{{}, one, three} {
		if err := r.Update(t.Context(), lane, old, three); !errors.Is(err, gitstore.ErrMoved) {
			t.Errorf("Update from %s: %v, want ErrMoved", old, err)
		}
	}
	if id, err := r.Ref(lane); id != two || err != nil {
		t.Errorf("Ref = %s, %v, want %s", id, err, two)
	}
	if err := r.Update(t.Context(), lane, two, pack.ID{}); err == nil {
		t.Error("Update to no commit gave no error")
	}
	for _, path := range []string{lockOf(r), ticket(r)} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
	if err := r.Update(t.Context(), lane+"/sub", pack.ID{}, one); err == nil || errors.Is(err, gitstore.ErrLocked) {
		t.Errorf("Update of a branch below another: %v", err)
	}
}

// A process that is killed leaves one of three states; the next update goes through all of them.
func TestUpdateAfterKill(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(t *testing.T, r *gitstore.Repo){
		"before the link": func(t *testing.T, r *gitstore.Repo) { write(t, ticket(r), "") },
		"before the rename": func(t *testing.T, r *gitstore.Repo) {
			write(t, ticket(r), two.String()+"\n")
			link(t, ticket(r), lockOf(r))
		},
		"after the rename": func(t *testing.T, r *gitstore.Repo) { link(t, filepath.Join(r.Dir(), lane), ticket(r)) },
		"before the rename, no links": func(t *testing.T, r *gitstore.Repo) {
			write(t, ticket(r), two.String()+"\n")
			write(t, lockOf(r), two.String()+"\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			update(t, r, lane, pack.ID{}, one)
			leave(t, r)
			if id, err := r.Ref(lane); id != one || err != nil {
				t.Errorf("Ref = %s, %v, want %s", id, err, one)
			}
			if err := r.Update(t.Context(), lane, two, three); !errors.Is(err, gitstore.ErrMoved) {
				t.Errorf("Update from another state: %v, want ErrMoved", err)
			}
			leave(t, r)
			update(t, r, lane, one, three)
			if id, err := r.Ref(lane); id != three || err != nil {
				t.Errorf("Ref = %s, %v, want %s", id, err, three)
			}
		})
	}
}

func TestUpdateWaitsForGit(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	update(t, r, lane, pack.ID{}, one)
	for _, content := range []string{"", two.String() + "\n"} {
		write(t, lockOf(r), content)
		write(t, ticket(r), three.String()+"\n") // a leftover that has nothing to do with the lock
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := r.Update(ctx, lane, one, two)
		cancel()
		if !errors.Is(err, gitstore.ErrLocked) || !strings.Contains(err.Error(), lockOf(r)) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Update with a lock of git: %v, want ErrLocked", err)
		}
		if b, err := os.ReadFile(lockOf(r)); err != nil || string(b) != content {
			t.Errorf("the lock of git is %q, %v", b, err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- r.Update(context.Background(), lane, one, two) }()
	if err := os.Remove(lockOf(r)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("Update after git let go: %v", err)
	}
}

// Writers of both kinds move one branch; every move must follow the one before it.
func TestUpdateWithGit(t *testing.T) {
	t.Parallel()
	needGit(t)
	r := newRepo(t)
	const writers, moves = 8, 15
	ids := [writers][]pack.ID{}
	known := sync.Map{}
	for w := range writers {
		for i := range moves {
			id := commit(t, r, pack.ID{}, fmt.Sprint(w, " ", i), map[string]string{"f": "f"})
			ids[w] = append(ids[w], id)
			known.Store(id, true)
		}
	}
	start := commit(t, r, pack.ID{}, "start", map[string]string{"f": "f"})
	known.Store(start, true)
	update(t, r, lane, pack.ID{}, start)

	var ours, table sync.Mutex // ours is the lock that keeps our own processes apart
	next := map[pack.ID]pack.ID{}
	move := func(w int, old, new pack.ID) bool {
		if w%2 == 0 {
			out, err := gitCommand(r.Dir(), "update-ref", lane, new.String(), old.String()).CombinedOutput()
			if err != nil && !strings.Contains(string(out), "cannot lock ref") {
				t.Errorf("git update-ref: %v\n%s", err, out)
			}
			return err == nil
		}
		ours.Lock()
		defer ours.Unlock()
		err := r.Update(t.Context(), lane, old, new)
		if err != nil && !errors.Is(err, gitstore.ErrMoved) {
			t.Error(err)
		}
		return err == nil
	}
	var wg, readers sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for _, new := range ids[w] {
				for !t.Failed() {
					old, err := r.Ref(lane)
					if err != nil {
						t.Error(err)
						return
					}
					if move(w, old, new) {
						table.Lock()
						next[old] = new
						table.Unlock()
						break
					}
				}
			}
		})
	}
	var done atomic.Bool
	readers.Go(func() {
		for i := 0; !done.Load(); i++ {
			id, err := r.Ref(lane)
			if _, ok := known.Load(id); !ok || err != nil {
				t.Errorf("torn read: %s, %v", id, err)
				return
			}
			if i%500 == 0 {
				if out, err := gitCommand(r.Dir(), "pack-refs", "--all").CombinedOutput(); err != nil && !strings.Contains(string(out), "Unable to create") {
					t.Errorf("git pack-refs: %v\n%s", err, out)
				}
			}
		}
	})
	wg.Wait()
	done.Store(true)
	readers.Wait()
	at := start
	for n := 0; ; n++ {
		new, ok := next[at]
		if !ok {
			if n != writers*moves {
				t.Errorf("%d moves follow each other, want %d", n, writers*moves)
			}
			break
		}
		at = new
	}
	if id, err := r.Ref(lane); id != at || err != nil {
		t.Errorf("Ref = %s, %v, want %s", id, err, at)
	}
	if out := git(t, r.Dir(), "rev-parse", lane); out != at.String() {
		t.Errorf("git rev-parse = %s, want %s", out, at)
	}
}

// A child moves a branch and is killed at some moment, again and again. What it said it had done is
// done, and nobody has to clean up.
func TestKilledWriter(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "memory.git")
	for i := range 25 {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), childRepo+"="+dir)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Read some lines, kill, read what it had still said.
		var said strings.Builder
		buf := make([]byte, 41)
		for range i * 3 {
			n, err := out.Read(buf)
			if err != nil {
				t.Fatalf("child: %v %s", err, errs.String())
			}
			said.Write(buf[:n])
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for {
			n, err := out.Read(buf)
			said.Write(buf[:n])
			if err != nil {
				break
			}
		}
		_ = cmd.Wait() // it was killed
		if errs.Len() > 0 {
			t.Fatalf("child: %s", errs.String())
		}
		checkAfterKill(t, dir, said.String())
	}
}

func checkAfterKill(t *testing.T, dir, said string) {
	t.Helper()
	if err := gitstore.Init(dir); err != nil {
		t.Fatal(err)
	}
	r, err := gitstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	id, err := r.Ref(lane)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(said)
	if len(lines) > 0 {
		last, err := pack.ParseID(lines[len(lines)-1])
		if err != nil {
			t.Fatal(err)
		}
		if id != last && id != pack.Name(pack.Blob, last[:]) {
			t.Fatalf("Ref = %s, the child said %s", id, last)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := r.Update(ctx, lane, id, pack.Name(pack.Blob, id[:])); err != nil {
		t.Fatal(err)
	}
}
