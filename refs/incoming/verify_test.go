package incoming

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/refstest"
)

// carry brings all objects of one repository into the quarantine of another and checks a lane there.
func carry(t *testing.T, from, to *refs.Repo, l refs.Lane) (*Quarantine, FetchedLane, error) {
	t.Helper()
	return carryPack(t, packOf(t, from), to, l)
}

// packOf is a pack of all that a repository has, as it would travel.
func packOf(t *testing.T, from *refs.Repo) []byte {
	t.Helper()
	return refstest.Packed(t, from, refstest.InOrder(t, from))
}

func carryPack(t *testing.T, p []byte, to *refs.Repo, l refs.Lane) (*Quarantine, FetchedLane, error) {
	t.Helper()
	ctx := context.Background()
	q, err := Begin(ctx, to)
	if err != nil {
		t.Fatal(err)
	}
	w, err := q.Writer()
	if err != nil {
		t.Fatal(err)
	}
	lim := pack.Limits{Bytes: 1 << 30, Objects: 1 << 20, Object: 1 << 30, Ratio: 10_000}
	if _, err := w.Receive(bytes.NewReader(p), lim); err != nil {
		t.Fatal(err)
	}
	if err := q.Finish(w); err != nil {
		t.Fatal(err)
	}
	a, err := q.Check(ctx, l, "")
	return q, a, err
}

// mustClean checks a store and returns how many lanes it has. Package repair, which imports this one, does: the tests
// of package incoming_test set it.
var mustClean func(t *testing.T, r *refs.Repo) (lanes int)

// MustClean sets what checks a store.
func MustClean(check func(t *testing.T, r *refs.Repo) (lanes int)) { mustClean = check }

func TestQuarantine(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b := refstest.New(t), refstest.New(t)
	refstest.Populate(t, a)
	q, got, err := carry(t, a, b, refstest.OwnLane(t, a))
	if err != nil {
		t.Fatal(err)
	}
	if got.Key != a.Device().PublicKey() || got.Commits != 3 || got.Kinds["set"] != 1 {
		t.Errorf("arrival %+v", got)
	}
	if id, err := b.Git().Ref(got.Ref()); err != nil || !id.IsZero() {
		t.Errorf("before Adopt the lane is at %v, %v", id, err)
	}
	if err := q.Adopt(ctx, []FetchedLane{got}); err != nil {
		t.Fatal(err)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	mustClean(t, b)
	// What is more than the lane, here that of the home project, has not come with it.
	home, err := a.Git().Ref(lane.Ref(refs.Home, a.Device().ID))
	if err != nil {
		t.Fatal(err)
	}
	if has, err := b.Git().Has(home); err != nil || has {
		t.Errorf("the home lane came along: %v, %v", has, err)
	}
	refstest.Add(t, a, refstest.Project, map[string]string{"target": "y"})
	q, got, err = carry(t, a, b, refstest.OwnLane(t, a))
	if err != nil {
		t.Fatal(err)
	}
	if got.Commits != 1 {
		t.Errorf("%d commits came, want 1", got.Commits)
	}
	if err := errors.Join(q.Adopt(ctx, []FetchedLane{got}), q.Close()); err != nil {
		t.Fatal(err)
	}
	mustClean(t, b)
}

// noise returns bytes that do not become fewer when they are compressed.
func noise(n int) string {
	b := make([]byte, n)
	if _, err := rand.NewChaCha8([32]byte{5}).Read(b); err != nil {
		panic(err) // it never fails
	}
	return string(b)
}

// TestAdoptSeveral adopts lanes of many projects. One that cannot be moved is told, and is in the way of no other.
func TestAdoptSeveral(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b := refstest.New(t), refstest.New(t)
	var lanes []refs.Lane
	for i := range 20 {
		l := refs.Lane{Project: refs.Project(fmt.Sprintf("%016x", i+1)), Device: a.Device().ID}
		err := a.Update(ctx, l.Project, "one", func(tx *refs.Tx) error {
			_, err := tx.Add("set", map[string]int{"n": i})
			return err
		})
		if err == nil {
			l.Tip, err = a.Git().Ref(l.Ref())
		}
		if err != nil {
			t.Fatal(err)
		}
		lanes = append(lanes, l)
	}
	q, first, err := carryPack(t, packOf(t, a), b, lanes[0])
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	first.Old = lanes[1].Tip // where it is not
	arrivals := []FetchedLane{first}
	for _, l := range lanes[1:] {
		got, err := q.Check(ctx, l, "")
		if err != nil {
			t.Fatal(err)
		}
		arrivals = append(arrivals, got)
	}
	if err := q.Adopt(ctx, arrivals); !errors.Is(err, gitstore.ErrMoved) {
		t.Errorf("adopt: %v, want ErrMoved", err)
	}
	for i, l := range lanes {
		if id, err := b.Git().Ref(l.Ref()); err != nil || id.IsZero() != (i == 0) || i > 0 && id != l.Tip {
			t.Errorf("lane %d: %s, %v", i, id, err)
		}
	}
}

// TestAdoptSome checks two lanes and adopts one. Nothing of the other is added to the store.
func TestAdoptSome(t *testing.T) {
	t.Parallel()
	a, b := refstest.New(t), refstest.New(t)
	var lanes []refs.Lane
	for i := range 2 {
		l := refs.Lane{Project: refs.Project(fmt.Sprintf("%016x", i+1)), Device: a.Device().ID}
		refstest.Add(t, a, l.Project, map[string]int{"n": i})
		var err error
		if l.Tip, err = a.Git().Ref(l.Ref()); err != nil {
			t.Fatal(err)
		}
		lanes = append(lanes, l)
	}
	q, first, err := carryPack(t, packOf(t, a), b, lanes[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Check(t.Context(), lanes[1], ""); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(q.Adopt(t.Context(), []FetchedLane{first}), q.Close()); err != nil {
		t.Fatal(err)
	}
	for i, l := range lanes {
		if ok, err := b.Git().Has(l.Tip); err != nil || ok != (i == 0) {
			t.Errorf("lane %d: Has = %v, %v", i, ok, err)
		}
	}
	mustClean(t, b)
}

// TestHostileLanes signs what a hostile device could sign with its own key and no honest one writes: none of it is taken.
func TestHostileLanes(t *testing.T) {
	t.Parallel()
	h := objects.Sum([]byte("x")).String()
	fan := func(dir, suffix string) string {
		return dir + "/" + h[:1] + "/" + h[1:2] + "/" + h[2:3] + "/" + h[3:4] + "/" + h[4:] + suffix
	}
	split := func(path string) []string { return strings.Split(path, "/") }
	cases := map[string]func(f *refstest.Forgery) error{
		"another path":          func(f *refstest.Forgery) error { return f.Put("x", split("evil/x")...) },
		"a file on top":         func(f *refstest.Forgery) error { return f.Put("x", split("README")...) },
		"a deep path":           func(f *refstest.Forgery) error { return f.Put("x", split("objects/a/b/c/d/e/f/g/h/i/j")...) },
		"an object too high":    func(f *refstest.Forgery) error { return f.Put("x", split("objects/"+h)...) },
		"wrong hash":            func(f *refstest.Forgery) error { return f.Put("y", split(fan("objects", ""))...) },
		"wrong hash of much":    func(f *refstest.Forgery) error { return f.Put(noise(200_000), split(fan("objects", ""))...) },
		"a patch":               func(f *refstest.Forgery) error { return f.Put("x", split(fan("patches", ""))...) },
		"another format":        func(f *refstest.Forgery) error { return f.Put("mem 2\n", split("format")...) },
		"a record with no name": func(f *refstest.Forgery) error { return f.Put("{}", split(fan("records", ".json"))...) },
		"a point to nowhere": func(f *refstest.Forgery) error {
			return f.Put(fmt.Sprintf("{\"stream\":\"%s\",\"segments\":1}\n", h), split(fan("points", ""))...)
		},
		"a point to minus one": func(f *refstest.Forgery) error {
			return f.Put(fmt.Sprintf("{\"stream\":\"%s\",\"segments\":-1}\n", stream.Name("s1", 0)), split(fan("points", ""))...)
		},
		"a point to something else": func(f *refstest.Forgery) error {
			return f.Put(fmt.Sprintf("{\"stream\":\"%s\",\"segments\":1}\n", stream.Name("s1", 0)), split(fan("points", ""))...)
		},
		"a broken segment": func(f *refstest.Forgery) error {
			return f.Put("garbage", lane.SegmentPath(stream.Name("s1", 0), 2)...)
		},
		"a segment out of line": func(f *refstest.Forgery) error {
			return f.Put("garbage", lane.SegmentPath(stream.Name("s9", 0), 3)...)
		},
		"a segment again": func(f *refstest.Forgery) error {
			return f.Put("garbage", lane.SegmentPath(stream.Name("s1", 0), 1)...)
		},
		"a segment in another directory": func(f *refstest.Forgery) error {
			return f.Put("garbage", append(lane.StreamPath(stream.Name("s1", 0)), "s0001", "000002")...)
		},
		"a record of somebody else": func(f *refstest.Forgery) error {
			r := refs.Record{Kind: "set", Device: strings.Repeat("0", 32), Lamport: 1, Time: refstest.Now(), Body: []byte("{}")}
			b, err := r.Encode()
			if err != nil {
				return err
			}
			return f.Put(string(b), lane.RecordPath(r.ID)...)
		},
		"a record from the future": func(f *refstest.Forgery) error {
			r := refs.Record{Kind: "set", Device: f.Lane.Device, Lamport: 1 << 40, Time: refstest.Now(), Body: []byte("{}")}
			b, err := r.Encode()
			if err != nil {
				return err
			}
			return f.Put(string(b), lane.RecordPath(r.ID)...)
		},
		"another key": func(f *refstest.Forgery) error {
			_, err := f.Add("device", lane.DeviceBody{ID: f.Lane.Device, Name: "x", Key: lane.PublicKey(lane.SSHKey(make([]byte, 32)))})
			return err
		},
		"the key of another device": func(f *refstest.Forgery) error {
			_, err := f.Add("device", lane.DeviceBody{ID: strings.Repeat("0", 32), Name: "x", Key: f.Signer.PublicKey()})
			return err
		},
		"Lamport time at its end": func(f *refstest.Forgery) error {
			f.Lamport = 1 << 63
			_, err := f.Add("set", "x")
			return err
		},
		"something removed": func(f *refstest.Forgery) error {
			left, git := lane.DirAt(pack.ID{}), f.Git
			err := f.Lane.Root.Walk(git, nil, func(path []string, id pack.ID) error {
				if path[0] == "objects" {
					return nil
				}
				_, err := left.Set(git, id, slices.Clone(path)...)
				return err
			})
			f.Lane.Root = left
			return err
		},
		"missing blob": func(f *refstest.Forgery) error {
			_, err := f.Lane.Root.Set(f.Git, pack.Name(pack.Blob, []byte("not there")), split(fan("objects", ""))...)
			return err
		},
	}
	for name, evil := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := refstest.New(t), refstest.New(t)
			refstest.Populate(t, a)
			refstest.ForgerOf(a).Commit(t, evil)
			if _, faults := audit(t, a, a.Git(), refstest.OwnLane(t, a), true); len(faults) == 0 {
				t.Error("an audit finds nothing")
			}
			q, got, err := carry(t, a, b, refstest.OwnLane(t, a))
			if !errors.Is(err, ErrRefused) {
				t.Errorf("Check = %+v, %v, want ErrRefused", got, err)
			}
			if err := q.Close(); err != nil {
				t.Fatal(err)
			}
			if n := mustClean(t, b); n != 2 { // home, in both repositories
				t.Errorf("%d lanes, want 2", n)
			}
		})
	}
}

// TestForgedLanes takes lanes that their device did not sign, and one that does not go on.
func TestForgedLanes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b := refstest.New(t), refstest.New(t)
	refstest.Populate(t, a)
	q, got, err := carry(t, a, b, refstest.OwnLane(t, a))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(q.Adopt(ctx, []FetchedLane{got}), q.Close()); err != nil {
		t.Fatal(err)
	}
	// Somebody with another key takes over the id.
	id, err := hex.DecodeString(a.Device().ID)
	if err != nil {
		t.Fatal(err)
	}
	o := refstest.Options(t)
	o.Rand = io.MultiReader(bytes.NewReader(id), o.Rand)
	forger := refstest.NewOf(t, o)
	refstest.Populate(t, forger)
	q, _, err = carry(t, forger, b, refstest.OwnLane(t, forger))
	if !errors.Is(err, ErrRefused) {
		t.Errorf("a lane made anew by another: %v, want ErrRefused", err)
	}
	q.Close()
	// The same in a project that is not here yet: the key is remembered.
	l := refs.Lane{Project: "00000000000000bb", Device: a.Device().ID}
	refstest.Add(t, forger, l.Project, map[string]string{"target": "x"})
	if l.Tip, err = forger.Git().Ref(l.Ref()); err != nil {
		t.Fatal(err)
	}
	q, _, err = carry(t, forger, b, l)
	if !errors.Is(err, ErrRefused) {
		t.Errorf("a lane with another key: %v, want ErrRefused", err)
	}
	q.Close()
	// A commit that nobody signed.
	evil := refstest.ForgerOf(a)
	evil.Signer = forger.Device()
	evil.Commit(t, func(f *refstest.Forgery) error {
		_, err := f.Add("set", map[string]string{"target": "y"})
		return err
	})
	q, _, err = carry(t, a, b, refstest.OwnLane(t, a))
	if !errors.Is(err, ErrRefused) || !strings.Contains(fmt.Sprint(err), "signed with another key") {
		t.Errorf("a commit signed by somebody else: %v", err)
	}
	q.Close()
	// A lane under the name of another device.
	l = refstest.OwnLane(t, a)
	l.Device = strings.Repeat("1", 32)
	q, _, err = carry(t, a, b, l)
	if !errors.Is(err, ErrRefused) {
		t.Errorf("a lane under another name: %v, want ErrRefused", err)
	}
	q.Close()
	mustClean(t, b)
}

// TestPatches fetches lanes of exact bytes with a patch that arrived, is missing, is damaged or is no file.
func TestPatches(t *testing.T) {
	t.Parallel()
	a := refstest.New(t)
	remote := refs.Remote{Name: "origin", Originals: true}
	git, err := a.Originals(remote)
	if err != nil {
		t.Fatal(err)
	}
	small, large := []byte("exact"), []byte(noise(2<<20))
	put := func(patch []byte) {
		t.Helper()
		err := a.Update(t.Context(), refstest.Project, "more", func(tx *refs.Tx) error {
			r, err := tx.Add("set", map[string]int{"size": len(patch)})
			if err != nil {
				return err
			}
			return tx.PutPatch(r.ID, patch)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(small)
	put(large)
	l := refs.Lane{Project: refstest.Project, Device: a.Device().ID, Originals: true}
	if l.Tip, err = git.Ref(l.LocalRef()); err != nil || l.Tip.IsZero() {
		t.Fatal(l, err)
	}
	live, err := lane.Reachable(t.Context(), git)
	if err != nil {
		t.Fatal(err)
	}
	check := func(patch []byte, instead *pack.Entry) error {
		q, err := BeginOriginals(t.Context(), refstest.New(t), remote)
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		w, err := q.Writer()
		if err != nil {
			t.Fatal(err)
		}
		for id := range live {
			e, err := git.Packs().Entry(id)
			if err != nil {
				t.Fatal(err)
			}
			if id == pack.Name(pack.Blob, patch) {
				if instead == nil {
					continue
				}
				e = *instead
				e.ID = id
			}
			if err := w.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.Finish(w); err != nil {
			t.Fatal(err)
		}
		_, err = q.Check(t.Context(), l, a.Device().PublicKey())
		return err
	}
	if err := check(nil, nil); err != nil {
		t.Errorf("a lane that is in order: %v", err)
	}
	for _, patch := range [][]byte{small, large} {
		if err := check(patch, nil); !errors.Is(err, ErrRefused) || !errors.Is(err, pack.ErrNotFound) {
			t.Errorf("a missing patch of %d bytes: %v, want ErrNotFound", len(patch), err)
		}
		other := pack.Encode(pack.Blob, append(patch, 'x'), 0)
		if err := check(patch, &other); !errors.Is(err, ErrRefused) || !errors.Is(err, pack.ErrCorrupt) {
			t.Errorf("a damaged patch of %d bytes: %v, want ErrCorrupt", len(patch), err)
		}
		tree := pack.Encode(pack.Tree, patch, 0)
		if err := check(patch, &tree); !errors.Is(err, ErrRefused) {
			t.Errorf("a patch of %d bytes that is a tree: %v", len(patch), err)
		}
	}
}
