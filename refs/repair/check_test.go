package repair

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/refstest"
)

// TestMalformedBodies writes records whose bodies another store refuses: none is written where they are refused, the lane does not come
// in, and one that slipped in is absent and told with its device.
func TestMalformedBodies(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	bad := errors.New("says nothing")
	o := refstest.Options(t)
	o.Body = func(kind string, _ json.RawMessage) error {
		if kind == "bad" {
			return bad
		}
		return nil
	}
	from, to := refstest.New(t), refstest.NewOf(t, o)
	say := func(r *refs.Repo, kind string) error {
		return r.Update(ctx, refstest.Project, kind, func(tx *refs.Tx) error {
			_, err := tx.Add(kind, []int{1})
			return err
		})
	}
	if err := errors.Join(say(from, "good"), say(from, "bad")); err != nil {
		t.Fatal(err)
	}
	if err := say(to, "bad"); !errors.Is(err, bad) {
		t.Errorf("it writes what it refuses: %v", err)
	}
	lane := refstest.OwnLane(t, from)
	refstest.CopyLane(t, to, from, refstest.Project)
	if err := to.View(ctx, refstest.Project, func(tx *refs.Tx) error {
		all, err := tx.Records(ctx, nil)
		if slices.ContainsFunc(all, func(r refs.Record) bool { return r.Kind == "bad" }) || !slices.ContainsFunc(all, func(r refs.Record) bool { return r.Kind == "good" }) {
			t.Errorf("records: %v", all)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var told []Problem
	if _, err := Check(ctx, to, true, func(p Problem) { told = append(told, p) }); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || told[0].Device != lane.Device {
		t.Errorf("Check tells %+v", told)
	}
}

// A meanwhile is a context in which something happens when it is first asked whether it is over.
type meanwhile struct {
	context.Context
	happens func()
}

func (m meanwhile) Err() error { m.happens(); return m.Context.Err() }

// TestCheckBesideRewrite checks a store while a lane begins anew and what it had before is swept: that is no damage.
func TestCheckBesideRewrite(t *testing.T) {
	t.Parallel()
	r := refstest.New(t)
	for range 10 {
		if err := r.Update(t.Context(), refstest.Project, "one", func(tx *refs.Tx) error { _, err := tx.Add("set", map[string]string{"a": "b"}); return err }); err != nil {
			t.Fatal(err)
		}
	}
	reader, err := refs.Open(r.Dir(), refstest.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var once sync.Once
	ctx := meanwhile{t.Context(), func() {
		once.Do(func() {
			err := r.Rewrite(t.Context(), refstest.Project, "anew", func(old, tx *refs.Tx) error {
				return tx.CopyFrom(old, func(string, objects.Hash) bool { return true })
			})
			if err == nil {
				err = r.Sweep(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}}
	n, err := Check(ctx, reader, true, func(p Problem) { t.Error(p) })
	if err != nil || n.Lanes != 3 || n.Records != 12 {
		t.Errorf("Check = %+v, %v, want 3 lanes and 12 records", n, err)
	}
}

// TestOutsideDamaged loses an object of a lane of an untrusted device. A check finds it, and a repair removes the lane,
// which a fetch brings again. The lanes of this device stay.
func TestOutsideDamaged(t *testing.T) {
	t.Parallel()
	r, other := refstest.New(t), refstest.New(t)
	refstest.Populate(t, r)
	err := other.Update(t.Context(), refstest.Project, "theirs", func(tx *refs.Tx) error {
		_, err := tx.Put(t.Context(), strings.NewReader("theirs"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	refstest.CopyLane(t, r, other, refstest.Project)
	own := r.Device().ID
	if err := r.Place(t.Context(), func(device string) bool { return device == own }); err != nil {
		t.Fatal(err)
	}
	outside := func() []refs.Lane {
		all, err := r.Outside()
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := outside(); len(all) != 1 {
		t.Fatalf("%d lanes are outside, want 1", len(all))
	}
	mustClean(t, r)
	blob := pack.Name(pack.Blob, []byte("theirs"))
	if err := pack.Drop(r.Git().PackDir(), "merge", func(id pack.ID) bool { return id != blob }); err != nil {
		t.Fatal(err)
	}
	if err := r.Git().Close(); err != nil {
		t.Fatal(err)
	}
	found := 0
	if _, err := Check(t.Context(), r, false, func(p Problem) {
		found++
		if !strings.Contains(p.Where, lane.OutsidePrefix) {
			t.Errorf("Check: %s", p)
		}
	}); err != nil || found == 0 {
		t.Fatalf("Check found %d problems, %v", found, err)
	}
	for _, dryRun := range []bool{true, false} {
		fixes, lost, err := FixRepositories(t.Context(), r, dryRun, nil)
		if err != nil || len(lost) > 0 || len(fixes) != 1 || !strings.Contains(fixes[0].Done, "fetch") {
			t.Fatalf("dry run %v: fixes %v, lost %v, %v", dryRun, fixes, lost, err)
		}
	}
	if all := outside(); len(all) > 0 {
		t.Errorf("the damaged lane stays: %v", all)
	}
	mustClean(t, r)
}

// TestFarClock lets a lane of another device, which slipped in, have a Lamport time of the far future: this device does not go on from it.
func TestFarClock(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := refstest.New(t)
	other := refstest.New(t)
	p := lane.ProjectOf("path /far")
	if err := other.Update(ctx, p, "begin", func(tx *refs.Tx) error {
		rec, err := tx.Add("x", map[string]int{"n": 0})
		return errors.Join(err, tx.PutPatch(rec.ID, []byte("patch")))
	}); err != nil {
		t.Fatal(err)
	}
	jump(t, other, p, 1<<62)
	refstest.CopyLane(t, r, other, p)
	var rec refs.Record
	if err := r.Update(ctx, p, "add", func(tx *refs.Tx) (err error) {
		rec, err = tx.Add("x", map[string]int{"n": 1})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if rec.Lamport != 1 {
		t.Errorf("the record has the Lamport time %d", rec.Lamport)
	}
	var told []Problem
	if _, err := Check(ctx, r, true, func(p Problem) { told = append(told, p) }); err != nil {
		t.Fatal(err)
	}
	if len(told) == 0 {
		t.Error("nothing is said of the lane")
	}
	for _, p := range told {
		if p.Device != other.Device().ID {
			t.Errorf("a problem of this store: %+v", p)
		}
	}
}

// jump forges a record with a Lamport time, as a device whose clock has been driven there, and a patch of it.
func jump(t *testing.T, r *refs.Repo, p refs.Project, to uint64) (rec refs.Record) {
	t.Helper()
	forger := refstest.ForgerOf(r)
	forger.Project = p
	forger.Commit(t, func(f *refstest.Forgery) (err error) {
		f.Lamport = to
		rec, err = f.Add("x", map[string]uint64{"at": to})
		return err
	})
	forger.Git = r.Parts()[1].Git
	forger.Commit(t, func(f *refstest.Forgery) error {
		f.Lamport = to
		return f.Put("patch", lane.PatchPath(rec.ID)...)
	})
	return rec
}
