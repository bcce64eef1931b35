package refs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// TestLamportBound shows that what a device may write is taken by every store whose clock is not a day behind, at any time.
func TestLamportBound(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2020-01-02T00:00:00Z", "2026-01-15T10:00:00Z", "2299-01-01T00:00:00Z"} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		ahead := &Repo{opts: Options{Now: func() time.Time { return now.Add(23 * time.Hour) }}}
		behind := &Repo{opts: Options{Now: func() time.Time { return now }}}
		n := lane.LamportBound(now.Add(23*time.Hour - lane.ClockSlack)) // the latest that the one ahead follows
		if !ahead.follows(n) || ahead.follows(n+1) {
			t.Errorf("%s: %d is not the latest", at, n)
		}
		if !behind.takes(n+1_000_000) && now.After(lane.ClockBegins().AddDate(0, 0, 2)) {
			t.Errorf("%s: a store that is 23 h behind refuses %d", at, n)
		}
		if n < lane.FreeRecords || behind.takes(lane.MaxLamport) || behind.takes(1<<62) {
			t.Errorf("%s: bound %d", at, n)
		}
	}
}

// TestFarClock lets a lane of another device, which slipped in, have a Lamport time of the far future: this device does not go on from it.
func TestFarClock(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	other := newRepo(t)
	p := lane.ProjectOf("path /far")
	jump(t, other, p, 1<<62)
	tip, err := other.memory.Ref(lane.Ref(p, other.device.ID))
	if err != nil {
		t.Fatal(err)
	}
	copyLane(t, r, other, p, tip)
	var rec Record
	if err := r.Update(ctx, p, "add", func(tx *Tx) (err error) {
		rec, err = tx.Add("x", map[string]int{"n": 1})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if rec.Lamport != 1 {
		t.Errorf("the record has the Lamport time %d", rec.Lamport)
	}
	var told []Problem
	if _, err := r.Check(ctx, true, func(p Problem) { told = append(told, p) }); err != nil {
		t.Fatal(err)
	}
	if len(told) == 0 {
		t.Error("nothing is said of the lane")
	}
	for _, p := range told {
		if p.Device != other.device.ID {
			t.Errorf("a problem of this store: %+v", p)
		}
	}
}

// jump writes a record with a Lamport time, as a device whose clock has been driven there.
func jump(t *testing.T, r *Repo, p Project, to uint64) (rec Record) {
	t.Helper()
	if err := r.Update(context.Background(), p, "jump", func(tx *Tx) (err error) {
		tx.lamport = to
		rec, err = tx.Add("x", map[string]uint64{"at": to})
		return errors.Join(err, tx.PutPatch(rec.ID, []byte("patch")))
	}); err != nil {
		t.Fatal(err)
	}
	return rec
}

// copyLane puts a lane of another store into r, unchecked.
func copyLane(t *testing.T, r, from *Repo, p Project, tip pack.ID) {
	t.Helper()
	files, err := os.ReadDir(from.memory.PackDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(from.memory.PackDir(), f.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(r.memory.PackDir(), f.Name()), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := r.memory.Update(context.Background(), lane.Ref(p, from.device.ID), pack.ID{}, tip); err != nil {
		t.Fatal(err)
	}
}

// TestMendClocks mends a store whose own lane has a Lamport time that no other takes: all records are there in their order, those that name
// others name them still, patches are found, and what the store goes on with is taken.
func TestMendClocks(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	p := lane.ProjectOf("path /mend")
	var early Record
	if err := r.Update(ctx, p, "early", func(tx *Tx) (err error) {
		early, err = tx.Add("x", map[string]int{"n": 0})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	late := jump(t, r, p, 1<<62)
	if err := r.Update(ctx, p, "name", func(tx *Tx) error {
		body := map[string]any{"n": 2, "early": early.ID, "late": late.ID, "mark": fmt.Sprintf("%s/%d", late.Device, late.Lamport), "files": []map[string]string{{"name": "f"}}}
		rec, err := tx.Add("session", body)
		return errors.Join(err, tx.PutPatch(lane.FilePatch(rec.ID, "f"), []byte("file")))
	}); err != nil {
		t.Fatal(err)
	}
	own := Lane{Project: p, Device: r.device.ID}
	if err := r.CheckClock(own); !errors.Is(err, ErrAhead) {
		t.Fatalf("CheckClock = %v", err)
	}
	if did, err := r.MendClocks(ctx, true); err != nil || len(did) != 1 || !errors.Is(r.CheckClock(own), ErrAhead) {
		t.Fatalf("dry run: %v, %v", did, err)
	}
	if did, err := r.MendClocks(ctx, false); err != nil || len(did) != 1 {
		t.Fatalf("%v, %v", did, err)
	}
	if did, err := r.MendClocks(ctx, false); err != nil || len(did) != 0 {
		t.Fatalf("again: %v, %v", did, err)
	}
	if err := r.CheckClock(own); err != nil {
		t.Error(err)
	}
	if err := r.View(ctx, p, func(tx *Tx) error {
		all, err := tx.Records(ctx, nil)
		var said []Record
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
			if b, err := tx.Patch(r.device.ID, h); err != nil || string(b) != want {
				t.Errorf("patch %s: %q, %v", h.Short(), b, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Check(ctx, true, func(p Problem) { t.Error(p) }); err != nil {
		t.Fatal(err)
	}
}
