package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/memvcs/mem/objects"
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

// TestMendClocks mends a store whose own lane has a Lamport time that no other takes: all records are there in their order, those that name
// others name them still, patches are found, and what the store goes on with is taken.
func TestMendClocks(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := refstest.New(t)
	p := lane.ProjectOf("path /mend")
	var early refs.Record
	if err := r.Update(ctx, p, "early", func(tx *refs.Tx) (err error) {
		early, err = tx.Add("x", map[string]int{"n": 0})
		return errors.Join(err, tx.PutPatch(early.ID, []byte("early patch")))
	}); err != nil {
		t.Fatal(err)
	}
	late := jump(t, r, p, 1<<62)
	if err := r.Update(ctx, p, "name", func(tx *refs.Tx) error {
		body := map[string]any{"n": 2, "early": early.ID, "late": late.ID, "mark": fmt.Sprintf("%s/%d", late.Device, late.Lamport), "files": []map[string]string{{"name": "f"}}}
		rec, err := tx.Add("session", body)
		return errors.Join(err, tx.PutPatch(lane.FilePatch(rec.ID, "f"), []byte("file")))
	}); err != nil {
		t.Fatal(err)
	}
	own := refs.Lane{Project: p, Device: r.Device().ID}
	if err := r.CheckClock(own); !errors.Is(err, refs.ErrAhead) {
		t.Fatalf("CheckClock = %v", err)
	}
	if did, err := FixClocks(ctx, r, true); err != nil || len(did) != 1 || !errors.Is(r.CheckClock(own), refs.ErrAhead) {
		t.Fatalf("dry run: %v, %v", did, err)
	}
	if did, err := FixClocks(ctx, r, false); err != nil || len(did) != 1 {
		t.Fatalf("%v, %v", did, err)
	}
	if did, err := FixClocks(ctx, r, false); err != nil || len(did) != 0 {
		t.Fatalf("again: %v, %v", did, err)
	}
	if err := r.CheckClock(own); err != nil {
		t.Error(err)
	}
	if err := r.View(ctx, p, func(tx *refs.Tx) error {
		all, err := tx.Records(ctx, nil)
		var said []refs.Record
		for _, rec := range all {
			if rec.Lamport > 100 {
				t.Errorf("%s has the Lamport time %d", rec.Kind, rec.Lamport)
			}
			if rec.Kind != "device" {
				said = append(said, rec)
			}
		}
		if err != nil || len(said) != 3 || said[0].ID != early.ID {
			t.Fatalf("%v, %v", said, err)
		}
		var last struct {
			Early, Late objects.Hash
			Mark        string
		}
		if err := json.Unmarshal(said[2].Body, &last); err != nil {
			t.Fatal(err)
		}
		if last.Early != early.ID || last.Late != said[1].ID || last.Mark != fmt.Sprintf("%s/%d", said[1].Device, said[1].Lamport) {
			t.Errorf("it names %+v", last)
		}
		for h, want := range map[objects.Hash]string{said[1].ID: "patch", lane.FilePatch(said[2].ID, "f"): "file"} {
			if b, err := tx.Patch(r.Device().ID, h); err != nil || string(b) != want {
				t.Errorf("patch %s: %q, %v", h.Short(), b, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := Check(ctx, r, true, func(p Problem) { t.Error(p) }); err != nil {
		t.Fatal(err)
	}
}
