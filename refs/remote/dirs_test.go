package remote

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

// made returns the objects of a commit on top of another, of which somebody says something.
func made(t testing.TB, parent pack.ID, text string) (pack.ID, []pack.Entry) {
	t.Helper()
	blob := pack.Encode(pack.Blob, []byte(text), 1)
	b, err := gitstore.EncodeTree([]gitstore.TreeEntry{{Name: "format", ID: blob.ID}})
	if err != nil {
		t.Fatal(err)
	}
	tree := pack.Encode(pack.Tree, b, 1)
	if b, err = gitstore.EncodeCommit(gitstore.Commit{Tree: tree.ID, Parent: parent, Name: "a", Email: "a@b", Time: time.Unix(0, 0), Message: text}); err != nil {
		t.Fatal(err)
	}
	commit := pack.Encode(pack.Commit, b, 1)
	return commit.ID, []pack.Entry{blob, tree, commit}
}

// batch sends objects and moves a branch.
func batch(ref string, at, id pack.ID, entries []pack.Entry) Batch {
	return Batch{Updates: []Update{{ref, at, id}}, Entries: func(yield func(pack.Entry) error) error {
		for _, e := range entries {
			if err := yield(e); err != nil {
				return err
			}
		}
		return nil
	}}
}

// TestPushesAtOnce pushes to the same branch of a directory from several sides at once, as one store does under two names and all members
// of an encrypted remote do: who was told that it was taken is in the branch, and nobody hears of more than that it was not.
func TestPushesAtOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hub.git")
	if err := gitstore.Init(dir); err != nil {
		t.Fatal(err)
	}
	const ref = "refs/heads/keys"
	var mu sync.Mutex
	taken := map[pack.ID]bool{}
	var sides sync.WaitGroup
	for side := range 3 {
		sides.Go(func() {
			for i := range 20 {
				c := New(URL{Scheme: "file", Path: dir}, World{Mark: fmt.Sprintf("device%d", side/2)})
				s, err := c.Open(t.Context(), Receive)
				if err != nil {
					t.Error(err)
					return
				}
				var at pack.ID
				for _, r := range s.Refs() {
					at = r.ID
				}
				id, entries := made(t, at, fmt.Sprintf("%d of %d", i, side))
				if err = s.Push(t.Context(), batch(ref, at, id, entries)); err == nil {
					mu.Lock()
					taken[id] = true
					mu.Unlock()
				} else if !errors.Is(err, ErrRejected) {
					t.Errorf("Push: %v", err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	sides.Wait()
	g, err := gitstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	id, err := g.Ref(ref)
	for n := 0; !id.IsZero() && err == nil; n++ {
		var c gitstore.Commit
		if c, err = g.Commit(id); !taken[id] {
			t.Errorf("commit %q is in the branch, and nobody was told so", c.Message)
		}
		delete(taken, id)
		id = c.Parent
	}
	if err != nil || len(taken) > 0 {
		t.Errorf("%d commits were taken and are not in the branch, %v", len(taken), err)
	}
}

// TestSweepBesidePush takes out of a directory what one device has forgotten while another one pushes the very same: that stays.
func TestSweepBesidePush(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hub.git")
	if err := gitstore.Init(dir); err != nil {
		t.Fatal(err)
	}
	g, err := gitstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	push := func(who, ref, text string, drop bool) pack.ID {
		c := New(URL{Scheme: "file", Path: dir}, World{Mark: who})
		s, err := c.Open(t.Context(), Receive)
		if err != nil {
			t.Error(err)
			return pack.ID{}
		}
		var at pack.ID
		for _, r := range s.Refs() {
			if r.Name == ref {
				at = r.ID
			}
		}
		id, entries := made(t, pack.ID{}, text)
		if err = s.Push(t.Context(), batch(ref, at, id, entries)); err == nil && drop {
			_, err = c.Sweep(t.Context(), nil)
		}
		if err = errors.Join(err, s.Close()); err != nil {
			t.Errorf("%s: %v", who, err)
		}
		return id
	}
	for i := range 40 {
		same := fmt.Sprintf("what both have, %d", i)
		push("laptop", "refs/heads/laptop", same, false)
		var sides sync.WaitGroup
		sides.Go(func() { push("laptop", "refs/heads/laptop", fmt.Sprintf("what is left, %d", i), true) })
		id := push("desk", fmt.Sprintf("refs/heads/desk%d", i), same, false)
		sides.Wait()
		c, err := g.Commit(id)
		if err == nil {
			_, err = g.Tree(c.Tree)
		}
		if err == nil {
			_, err = g.Get(pack.Name(pack.Blob, []byte(same)), pack.Blob)
		}
		if err != nil {
			t.Fatalf("what the desk has pushed: %v", err)
		}
	}
}
