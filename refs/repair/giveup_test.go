package repair

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/incoming"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/refstest"
)

// TestGiveUp takes each commit and each directory out of a lane in turn: what is good stays, the store is in order without a repair, and
// other devices take the lane, if they do not know it and if they knew it whole.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("SKIPPED in short mode: nothing runs side by side here")
	}
	ctx := context.Background()
	for i, done := 0, false; !done; i += 1 + i%5 { // enough of some sixty
		a, b := refstest.New(t), refstest.New(t)
		refstest.Populate(t, a)
		l := refstest.OwnLane(t, a)
		q, got, err := carry(t, a, b, l)
		if err = errors.Join(err, q.Adopt(ctx, []incoming.FetchedLane{got}), q.Close()); err != nil {
			t.Fatal(err)
		}
		wide := wideOf(t, a, l)
		done = i >= len(wide)-5
		if err := pack.Drop(a.Git().PackDir(), "merge", func(id pack.ID) bool { return id != wide[i] }); err != nil {
			t.Fatal(err)
		}
		if err := a.Git().Close(); err != nil {
			t.Fatal(err)
		}
		_, lost, err := FixRepositories(ctx, a, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if could, err := GiveUp(ctx, a, true, lost, nil); err != nil || wide[i] != l.Tip && len(could) == 0 {
			t.Fatalf("object %d of %d: GiveUp would do %v, %v", i, len(wide), could, err)
		}
		if _, err := GiveUp(ctx, a, false, lost, nil); err != nil {
			t.Fatal(err)
		}
		mustClean(t, a)
		refstest.Add(t, a, refstest.Project, map[string]string{"target": "y"})
		now := refstest.OwnLane(t, a)
		for _, to := range []*refs.Repo{refstest.New(t), b} {
			q, _, err := carry(t, a, to, now)
			if wide[i] == l.Tip && to == b {
				err = nil // it goes on from an older commit, as [repair.branches] found it
			}
			if err = errors.Join(err, q.Close()); err != nil {
				t.Errorf("object %d of %d is lost: %v", i, len(wide), err)
			}
		}
	}
}

// wideOf returns the commits and directories of a lane.
func wideOf(t *testing.T, r *refs.Repo, l refs.Lane) (out []pack.ID) {
	t.Helper()
	all := map[pack.ID]struct{}{}
	if err := lane.AddReachable(context.Background(), r.Git(), l.Tip, all); err != nil {
		t.Fatal(err)
	}
	for _, id := range slices.SortedFunc(maps.Keys(all), pack.Compare) {
		k, err := r.Git().Packs().Kind(id)
		if err != nil {
			t.Fatal(err)
		}
		if k == pack.Commit || k == pack.Tree {
			out = append(out, id)
		}
	}
	return out
}

// TestGiveUpKeeps asks about each record what to do, and tells what content there is.
func TestGiveUpKeeps(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a := refstest.New(t)
	refstest.Populate(t, a)
	l := refstest.OwnLane(t, a)
	at, err := lane.At(a.Git(), l.Tip, l.Device)
	if err != nil {
		t.Fatal(err)
	}
	e, ok, err := at.Find("streams")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := pack.Drop(a.Git().PackDir(), "merge", func(id pack.ID) bool { return id != e.Dir.ID }); err != nil {
		t.Fatal(err)
	}
	if err := a.Git().Close(); err != nil {
		t.Fatal(err)
	}
	_, lost, err := FixRepositories(ctx, a, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	if _, err := GiveUp(ctx, a, false, lost, func(r refs.Record, has func(objects.Hash) bool) bool {
		asked[r.Kind] = true
		if !has(objects.Sum([]byte("an object"))) || has(objects.Sum([]byte("no object"))) {
			t.Error("has tells of content that is not there, or not of what is")
		}
		return r.Kind != "set"
	}); err != nil {
		t.Fatal(err)
	}
	mustClean(t, a)
	for _, r := range ReadableRecords(a, refstest.Project) {
		if r.Kind == "set" {
			t.Error("a record that was not to be kept is there")
		}
	}
	if !asked["set"] || !asked["device"] {
		t.Errorf("it was asked about %v", asked)
	}
}
