// Package refstest creates stores for the tests of the packages above refs, and forged lanes that no correct device
// writes.
package refstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// Project is the project that the helpers write.
const Project refs.Project = "00000000000000aa"

// Now returns the time in all stores of a test.
func Now() time.Time { return time.Date(2026, 1, 20, 14, 0, 0, 0, time.UTC) }

// A noise is a reader of pseudo-random bytes, equal for equal seeds.
type noise struct {
	seed string
	n    int
}

func (s *noise) Read(b []byte) (int, error) {
	s.n++
	h := objects.Sum(fmt.Appendf(nil, "%s %d", s.seed, s.n))
	return copy(b, h[:]), nil
}

// Options returns the options of the stores of a test.
func Options(t testing.TB) refs.Options {
	return refs.Options{
		Now:  Now,
		Rand: &noise{seed: t.TempDir()}, // a different seed for each store

		LockTimeout: 5 * time.Minute, // on a busy machine writers may wait long
	}
}

// New creates an empty store that is closed at the end of the test.
func New(t testing.TB) *refs.Repo {
	t.Helper()
	return NewOf(t, Options(t))
}

// NewOf is [New] with other options.
func NewOf(t testing.TB, o refs.Options) *refs.Repo {
	t.Helper()
	r, err := refs.Init(context.Background(), filepath.Join(t.TempDir(), "memory"), "desk", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// Fsck runs git fsck on both repositories of a store.
func Fsck(t *testing.T, r *refs.Repo) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: no git on this machine")
	}
	for _, p := range r.Parts() {
		cmd := exec.Command("git", "-C", p.Git.Dir(), "fsck", "--strict", "--full", "--no-dangling")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git fsck: %v\n%s", err, out)
		}
	}
}

// Grow adds content to a stream of [Project] that ends in tail.
func Grow(t testing.TB, r *refs.Repo, name objects.Hash, tail *stream.Tail, content []byte) {
	t.Helper()
	ctx := context.Background()
	base := 0
	if err := r.View(ctx, Project, func(tx *refs.Tx) (err error) {
		base, err = tx.Segments(name)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s, err := r.Stage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Grow(ctx, name, base, tail, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	if err := r.Update(ctx, Project, "grow", func(tx *refs.Tx) error { return tx.Adopt(s) }); err != nil {
		t.Fatal(err)
	}
}

// Add stores a record of the kind "set".
func Add(t testing.TB, r *refs.Repo, p refs.Project, body any) {
	t.Helper()
	if err := r.Update(context.Background(), p, "more", func(tx *refs.Tx) error {
		_, err := tx.Add("set", body)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// Populate adds content of every kind to the lane of [Project].
func Populate(t testing.TB, r *refs.Repo) {
	t.Helper()
	name := stream.Name("s1", 0)
	tail := &stream.Tail{Hash: objects.NewHasher()}
	Grow(t, r, name, tail, bytes.Repeat([]byte("hello\n"), 1000))
	Grow(t, r, name, tail, bytes.Repeat([]byte("again\n"), 1000))
	err := r.Update(context.Background(), Project, "more", func(tx *refs.Tx) error {
		if _, err := tx.Put(context.Background(), strings.NewReader("an object")); err != nil {
			return err
		}
		_, err := tx.Add("set", map[string]string{"target": "x"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// OwnLane returns the lane of this device in [Project].
func OwnLane(t testing.TB, r *refs.Repo) refs.Lane {
	t.Helper()
	l := refs.Lane{Project: Project, Device: r.Device().ID}
	var err error
	if l.Tip, err = r.Git().Ref(l.Ref()); err != nil || l.Tip.IsZero() {
		t.Fatalf("lane: %v, %v", l, err)
	}
	return l
}

// InOrder lists the objects of memory.git in the order of its packs.
func InOrder(t testing.TB, from *refs.Repo) (ids []pack.ID) {
	t.Helper()
	for id, err := range from.Git().Packs().All() {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// Packed returns a pack of some objects of memory.git, as a remote would send it.
func Packed(t testing.TB, from *refs.Repo, ids []pack.ID) []byte {
	t.Helper()
	var entries []pack.Entry
	var size int64
	for _, id := range ids {
		e, err := from.Git().Packs().Entry(id)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
		size += int64(e.Size())
	}
	var b bytes.Buffer
	if err := pack.Stream(&b, len(entries), size, func(yield func(pack.Entry) error) error {
		for _, e := range entries {
			if err := yield(e); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// CopyLane copies a lane of another store to r, unchecked.
func CopyLane(t testing.TB, r, from *refs.Repo, p refs.Project) {
	t.Helper()
	ref := lane.Ref(p, from.Device().ID)
	tip, err := from.Git().Ref(ref)
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(from.Git().PackDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(from.Git().PackDir(), f.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(r.Git().PackDir(), f.Name()), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Git().Update(context.Background(), ref, pack.ID{}, tip); err != nil {
		t.Fatal(err)
	}
}

// A Forgery is an unfinished commit with content that no correct device writes.
type Forgery struct {
	Git     *gitstore.Repo
	Signer  lane.Device
	Lane    *lane.Snapshot
	Lamport uint64

	w *pack.Writer
}

// A Forger signs and writes commits to a lane.
type Forger struct {
	Git     *gitstore.Repo // memory.git, or originals.git
	Project refs.Project
	ID      string      // of the device of the lane
	Signer  lane.Device // signs the commits
}

// ForgerOf returns a forger of this device's lane of [Project] in memory.git.
func ForgerOf(r *refs.Repo) Forger {
	return Forger{Git: r.Git(), Project: Project, ID: r.Device().ID, Signer: r.Device()}
}

// Commit commits the changes of evil to the lane.
func (x Forger) Commit(t testing.TB, evil func(*Forgery) error) {
	t.Helper()
	if err := x.commit(evil); err != nil {
		t.Fatal(err)
	}
}

func (x Forger) commit(evil func(*Forgery) error) error {
	g, ref := x.Git, lane.Ref(x.Project, x.ID)
	l, err := lane.Open(g, ref, x.ID)
	if err != nil {
		return err
	}
	f := &Forgery{Git: g, Signer: x.Signer, Lane: l}
	if f.Lamport, err = lane.LamportOf(l.Commit); err != nil {
		return err
	}
	if f.w, err = pack.Create(g.PackDir(), "forge"); err != nil {
		return err
	}
	if err := evil(f); err != nil {
		return errors.Join(err, f.w.Abort())
	}
	l.Root.Touch()
	tree, err := l.Root.Encode(f.put)
	if err != nil {
		return errors.Join(err, f.w.Abort())
	}
	c := gitstore.Commit{Tree: tree, Parent: l.Tip, Name: x.Signer.Name, Email: x.ID + "@mem.invalid", Time: Now(),
		Message: fmt.Sprintf("evil\n\nMem-Lamport: %d\n", f.Lamport)}
	c.Signature = x.Signer.Sign(c.Payload())
	b, err := gitstore.EncodeCommit(c)
	if err != nil {
		return errors.Join(err, f.w.Abort())
	}
	commit, err := f.put(pack.Commit, b)
	if err != nil {
		return errors.Join(err, f.w.Abort())
	}
	if _, err := f.w.Close(); err != nil {
		return err
	}
	return g.Update(context.Background(), ref, l.Tip, commit)
}

func (f *Forgery) put(k pack.Kind, b []byte) (pack.ID, error) {
	e := pack.Encode(k, b, 1)
	return e.ID, f.w.Add(e)
}

// Put stores a blob at any path of the lane.
func (f *Forgery) Put(content string, path ...string) error {
	id, err := f.put(pack.Blob, []byte(content))
	if err == nil {
		_, err = f.Lane.Root.Set(f.Git, id, path...)
	}
	return err
}

// Add stores a record of the lane's device with the Lamport time of the forgery.
func (f *Forgery) Add(kind string, body any) (refs.Record, error) {
	r, b, err := lane.NewRecord(kind, lane.Device{ID: f.Lane.Device}, f.Lamport, Now(), body)
	if err != nil {
		return r, err
	}
	return r, f.Put(string(b), lane.RecordPath(r.ID)...)
}
