package repair

import (
	"context"
	"errors"
	"testing"

	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/refstest"
)

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
