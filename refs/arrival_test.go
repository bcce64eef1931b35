package refs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs/lane"
)

// carry brings all objects of one repository into the quarantine of another and checks a lane there: with streams that are checked while
// they come, and without, which must be the same.
func carry(t *testing.T, from, to *Repo, l Lane) (*Quarantine, Arrival, error) {
	t.Helper()
	p := packOf(t, from)
	q, want, wantErr := carryPack(t, p, to, l, false)
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	q, got, err := carryPack(t, p, to, l, true)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("checked while it came: %+v, %v\nwant %+v, %v", got, err, want, wantErr)
	}
	return q, got, err
}

// packOf is a pack of all that a repository has, as it would travel.
func packOf(t *testing.T, from *Repo) []byte {
	t.Helper()
	return packed(t, from, inOrder(t, from))
}

// inOrder lists the objects of a repository as they lie in its packs.
func inOrder(t *testing.T, from *Repo) (ids []pack.ID) {
	t.Helper()
	for id, err := range from.memory.Packs().All() {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := from.memory.Packs().Order(ids); err != nil {
		t.Fatal(err)
	}
	return ids
}

func packed(t *testing.T, from *Repo, ids []pack.ID) []byte {
	t.Helper()
	var entries []pack.Entry
	var size int64
	for _, id := range ids {
		e, err := from.memory.Packs().Entry(id)
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

func carryPack(t *testing.T, p []byte, to *Repo, l Lane, ahead bool) (*Quarantine, Arrival, error) {
	t.Helper()
	ctx := context.Background()
	q, err := to.Quarantine(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w, err := q.Writer()
	if err != nil {
		t.Fatal(err)
	}
	lim := pack.Limits{Bytes: 1 << 30, Objects: 1 << 20, Object: 1 << 30, Ratio: 10_000}
	if ahead {
		lim.Blob = q.Came
	}
	if _, err := w.Receive(bytes.NewReader(p), lim); err != nil {
		t.Fatal(err)
	}
	if err := q.Finish(w); err != nil {
		t.Fatal(err)
	}
	a, err := q.Check(ctx, l, "")
	return q, a, err
}

func ownLane(t *testing.T, r *Repo) Lane {
	t.Helper()
	l := Lane{Project: testProject, Device: r.device.ID}
	var err error
	if l.Tip, err = r.memory.Ref(l.Ref()); err != nil || l.Tip.IsZero() {
		t.Fatalf("lane: %v, %v", l, err)
	}
	return l
}

// populate gives a lane a bit of everything.
func populate(t *testing.T, r *Repo) {
	t.Helper()
	name := stream.Name("s1", 0)
	tail := &stream.Tail{Hash: objects.NewHasher()}
	if _, err := grow(t, r, name, tail, 0, bytes.Repeat([]byte("hello\n"), 1000)); err != nil {
		t.Fatal(err)
	}
	if _, err := grow(t, r, name, tail, 1, bytes.Repeat([]byte("again\n"), 1000)); err != nil {
		t.Fatal(err)
	}
	err := r.Update(context.Background(), testProject, "more", func(tx *Tx) error {
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

func TestQuarantine(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b := newRepo(t), newRepo(t)
	populate(t, a)
	q, got, err := carry(t, a, b, ownLane(t, a))
	if err != nil {
		t.Fatal(err)
	}
	if got.Key != a.device.PublicKey() || got.Commits != 3 || got.Kinds["set"] != 1 {
		t.Errorf("arrival %+v", got)
	}
	if id, err := b.memory.Ref(got.Ref()); err != nil || !id.IsZero() {
		t.Errorf("before Adopt the lane is at %v, %v", id, err)
	}
	if err := q.Adopt(ctx, []Arrival{got}); err != nil {
		t.Fatal(err)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	mustClean(t, b)
	// What is more than the lane, here that of the home project, has not come with it.
	home, err := a.memory.Ref(lane.Ref(Home, a.device.ID))
	if err != nil {
		t.Fatal(err)
	}
	if has, err := b.memory.Has(home); err != nil || has {
		t.Errorf("the home lane came along: %v, %v", has, err)
	}
	populateMore(t, a)
	q, got, err = carry(t, a, b, ownLane(t, a))
	if err != nil {
		t.Fatal(err)
	}
	if got.Commits != 1 {
		t.Errorf("%d commits came, want 1", got.Commits)
	}
	if err := errors.Join(q.Adopt(ctx, []Arrival{got}), q.Close()); err != nil {
		t.Fatal(err)
	}
	mustClean(t, b)
}

func populateMore(t *testing.T, r *Repo) {
	t.Helper()
	if err := r.Update(context.Background(), testProject, "more", func(tx *Tx) error {
		_, err := tx.Add("set", map[string]string{"target": "y"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// set stages a blob at any path of the own lane.
func (tx *Tx) testSet(content, path string) error {
	return tx.putBlob([]byte(content), strings.Split(path, "/"))
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
	a, b := newRepo(t), newRepo(t)
	var lanes []Lane
	for i := range 20 {
		l := Lane{Project: Project(fmt.Sprintf("%016x", i+1)), Device: a.device.ID}
		err := a.Update(ctx, l.Project, "one", func(tx *Tx) error {
			_, err := tx.Add("set", map[string]int{"n": i})
			return err
		})
		if err == nil {
			l.Tip, err = a.memory.Ref(l.Ref())
		}
		if err != nil {
			t.Fatal(err)
		}
		lanes = append(lanes, l)
	}
	q, first, err := carryPack(t, packOf(t, a), b, lanes[0], true)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	first.Old = lanes[1].Tip // where it is not
	arrivals := []Arrival{first}
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
		if id, err := b.memory.Ref(l.Ref()); err != nil || id.IsZero() != (i == 0) || i > 0 && id != l.Tip {
			t.Errorf("lane %d: %s, %v", i, id, err)
		}
	}
}

// TestHostileLanes signs what a hostile device could sign with its own key and no honest one writes: none of it is taken.
func TestHostileLanes(t *testing.T) {
	t.Parallel()
	h := objects.Sum([]byte("x")).String()
	fan := func(dir, suffix string) string {
		return dir + "/" + h[:1] + "/" + h[1:2] + "/" + h[2:3] + "/" + h[3:4] + "/" + h[4:] + suffix
	}
	cases := map[string]func(tx *Tx) error{
		"another path":          func(tx *Tx) error { return tx.testSet("x", "evil/x") },
		"a file on top":         func(tx *Tx) error { return tx.testSet("x", "README") },
		"a deep path":           func(tx *Tx) error { return tx.testSet("x", "objects/a/b/c/d/e/f/g/h/i/j") },
		"an object too high":    func(tx *Tx) error { return tx.testSet("x", "objects/"+h) },
		"wrong hash":            func(tx *Tx) error { return tx.testSet("y", fan("objects", "")) },
		"wrong hash of much":    func(tx *Tx) error { return tx.testSet(noise(200_000), fan("objects", "")) },
		"a huge record":         func(tx *Tx) error { return tx.testSet(strings.Repeat("\x00", maxSmall+1), fan("records", ".json")) },
		"a patch":               func(tx *Tx) error { return tx.testSet("x", fan("patches", "")) },
		"another format":        func(tx *Tx) error { return tx.testSet("mem 2\n", "format") },
		"a record with no name": func(tx *Tx) error { return tx.testSet("{}", fan("records", ".json")) },
		"a point to nowhere": func(tx *Tx) error {
			return tx.testSet(fmt.Sprintf("{\"stream\":\"%s\",\"segments\":1}\n", h), fan("points", ""))
		},
		"a point to minus one": func(tx *Tx) error {
			return tx.testSet(fmt.Sprintf("{\"stream\":\"%s\",\"segments\":-1}\n", stream.Name("s1", 0)), fan("points", ""))
		},
		"a point to something else": func(tx *Tx) error {
			return tx.testSet(fmt.Sprintf("{\"stream\":\"%s\",\"segments\":1}\n", stream.Name("s1", 0)), fan("points", ""))
		},
		"a broken segment": func(tx *Tx) error {
			return tx.putBlob([]byte("garbage"), lane.SegmentPath(stream.Name("s1", 0), 2))
		},
		"a segment out of line": func(tx *Tx) error {
			return tx.putBlob([]byte("garbage"), lane.SegmentPath(stream.Name("s9", 0), 3))
		},
		"a segment again": func(tx *Tx) error {
			return tx.putBlob([]byte("garbage"), lane.SegmentPath(stream.Name("s1", 0), 1))
		},
		"a segment in another directory": func(tx *Tx) error {
			return tx.putBlob([]byte("garbage"), append(lane.StreamPath(stream.Name("s1", 0)), "s0001", "000002"))
		},
		"a record of somebody else": func(tx *Tx) error {
			r := Record{Kind: "set", Device: strings.Repeat("0", 32), Lamport: 1, Time: tx.r.opts.Now(), Body: []byte("{}")}
			b, err := r.Encode()
			if err != nil {
				return err
			}
			return tx.putBlob(b, lane.RecordPath(r.ID))
		},
		"a record from the future": func(tx *Tx) error {
			r := Record{Kind: "set", Device: tx.r.device.ID, Lamport: 1 << 40, Time: tx.r.opts.Now(), Body: []byte("{}")}
			b, err := r.Encode()
			if err != nil {
				return err
			}
			return tx.putBlob(b, lane.RecordPath(r.ID))
		},
		"another key": func(tx *Tx) error {
			_, err := tx.Add("device", lane.DeviceBody{ID: tx.r.device.ID, Name: "x", Key: lane.PublicKey(lane.SSHKey(make([]byte, 32)))})
			return err
		},
		"the key of another device": func(tx *Tx) error {
			_, err := tx.Add("device", lane.DeviceBody{ID: strings.Repeat("0", 32), Name: "x", Key: tx.r.device.PublicKey()})
			return err
		},
		"Lamport time at its end": func(tx *Tx) error {
			tx.lamport = 1 << 63
			_, err := tx.Add("set", "x")
			return err
		},
		"something removed": func(tx *Tx) error {
			left, git := lane.DirAt(pack.ID{}), tx.r.memory
			err := tx.own().Root.Walk(git, nil, func(path []string, id pack.ID) error {
				if path[0] == "objects" {
					return nil
				}
				_, err := left.Set(git, id, slices.Clone(path)...)
				return err
			})
			tx.own().Root = left
			return err
		},
		"missing blob": func(tx *Tx) error {
			_, err := tx.own().Root.Set(tx.r.memory, pack.Name(pack.Blob, []byte("not there")), strings.Split(fan("objects", ""), "/")...)
			return errors.Join(err, tx.needStage())
		},
	}
	for name, evil := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := newRepo(t), newRepo(t)
			populate(t, a)
			if err := a.Update(context.Background(), testProject, "evil", evil); err != nil {
				t.Fatal(err)
			}
			q, got, err := carry(t, a, b, ownLane(t, a))
			if !errors.Is(err, ErrRefused) {
				t.Errorf("Check = %+v, %v, want ErrRefused", got, err)
			}
			if err := q.Close(); err != nil {
				t.Fatal(err)
			}
			if n := mustClean(t, b).Lanes; n != 2 { // home, in both repositories
				t.Errorf("%d lanes, want 2", n)
			}
		})
	}
}

// TestForgedLanes takes lanes that their device did not sign, and one that does not go on.
func TestForgedLanes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b := newRepo(t), newRepo(t)
	populate(t, a)
	q, got, err := carry(t, a, b, ownLane(t, a))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(q.Adopt(ctx, []Arrival{got}), q.Close()); err != nil {
		t.Fatal(err)
	}
	// Somebody with another key takes over the id.
	forger := newRepo(t)
	forger.device.ID = a.device.ID
	populate(t, forger)
	q, _, err = carry(t, forger, b, ownLane(t, forger))
	if !errors.Is(err, ErrRefused) {
		t.Errorf("a lane made anew by another: %v, want ErrRefused", err)
	}
	q.Close()
	// The same in a project that is not here yet: the key is remembered.
	l := Lane{Project: "00000000000000bb", Device: a.device.ID}
	if err := forger.Update(ctx, l.Project, "evil", func(tx *Tx) error { return tx.both() }); err != nil {
		t.Fatal(err)
	}
	if l.Tip, err = forger.memory.Ref(l.Ref()); err != nil {
		t.Fatal(err)
	}
	q, _, err = carry(t, forger, b, l)
	if !errors.Is(err, ErrRefused) {
		t.Errorf("a lane with another key: %v, want ErrRefused", err)
	}
	q.Close()
	// A commit that nobody signed.
	was := a.device
	a.device = forger.device
	a.device.ID, a.device.Name = was.ID, was.Name
	populateMore(t, a)
	a.device = was
	q, _, err = carry(t, a, b, ownLane(t, a))
	if !errors.Is(err, ErrRefused) || !strings.Contains(fmt.Sprint(err), "signed with another key") {
		t.Errorf("a commit signed by somebody else: %v", err)
	}
	q.Close()
	// A lane under the name of another device.
	l = ownLane(t, a)
	l.Device = strings.Repeat("1", 32)
	q, _, err = carry(t, a, b, l)
	if !errors.Is(err, ErrRefused) {
		t.Errorf("a lane under another name: %v, want ErrRefused", err)
	}
	q.Close()
	mustClean(t, b)
}
