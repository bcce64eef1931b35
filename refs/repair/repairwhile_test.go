package repair

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/refstest"
)

// TestRepairBesideUpdate repairs a branch while another process writes: what that one was told is stored is there, and so is what was
// before.
func TestRepairBesideUpdate(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"damaged", "gone"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := refstest.New(t)
			record := func(r *refs.Repo, what string) (id objects.Hash, err error) {
				return id, r.Update(t.Context(), refstest.Project, what, func(tx *refs.Tx) error {
					rec, err := tx.Add("set", map[string]string{"what": what})
					id = rec.ID
					return err
				})
			}
			var want []objects.Hash
			for _, what := range []string{"one", "two", "three"} {
				id, err := record(r, what)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, id)
			}
			file := filepath.Join(r.Dir(), refs.MemoryDir, filepath.FromSlash(lane.Ref(refstest.Project, r.Device().ID)))
			err := os.Remove(file)
			if err == nil && how == "damaged" {
				err = os.WriteFile(file, []byte("garbage\n"), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			other, err := refs.Open(r.Dir(), refstest.Options(t))
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			during := func(context.Context, []string, *pack.Writer) (map[string]pack.ID, error) {
				if id, err := record(other, "meanwhile"); err == nil {
					want = append(want, id)
				} else {
					t.Logf("meanwhile: %v", err)
				}
				return nil, nil
			}
			if _, _, err := FixRepositories(t.Context(), r, false, during); err != nil {
				t.Fatal(err)
			}
			id, err := record(r, "after")
			if err != nil {
				t.Fatal(err)
			}
			err = r.View(t.Context(), refstest.Project, func(tx *refs.Tx) error {
				for _, id := range append(want, id) {
					if _, err := tx.Record(id); err != nil {
						t.Errorf("what was stored: %v", err)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestSweepKeepsLostBranches loses a branch and sweeps: what it led to stays until a repair has put it back.
func TestSweepKeepsLostBranches(t *testing.T) {
	t.Parallel()
	for _, part := range []string{refs.MemoryDir, refs.OriginalsDir} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			r := refstest.New(t)
			var rec refs.Record
			patch := []byte("what makes it exact")
			err := r.Update(t.Context(), refstest.Project, "one", func(tx *refs.Tx) (err error) {
				if rec, err = tx.Add("set", map[string]string{"what": "one"}); err != nil {
					return err
				}
				return tx.PutPatch(rec.ID, patch)
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(r.Dir(), part, filepath.FromSlash(lane.Ref(refstest.Project, r.Device().ID)))); err != nil {
				t.Fatal(err)
			}
			if err := r.Sweep(t.Context()); !errors.Is(err, refs.ErrDamaged) {
				t.Errorf("Sweep = %v, want %v", err, refs.ErrDamaged)
			}
			if did, lost, err := FixRepositories(t.Context(), r, false, nil); err != nil || len(did) != 1 || len(lost) > 0 {
				t.Fatalf("Repair = %v, %v, %v", did, lost, err)
			}
			err = r.View(t.Context(), refstest.Project, func(tx *refs.Tx) error {
				_, err := tx.Record(rec.ID)
				b, perr := tx.Patch(r.Device().ID, rec.ID)
				if string(b) != string(patch) {
					t.Errorf("Patch = %q, want %q", b, patch)
				}
				return errors.Join(err, perr)
			})
			if err = errors.Join(err, r.Sweep(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSweepBesideRepair sweeps while lanes begin anew: what a repair has stored and no branch leads to yet stays.
func TestSweepBesideRepair(t *testing.T) {
	t.Parallel()
	r := refstest.New(t)
	err := r.Update(t.Context(), refstest.Project, "one", func(tx *refs.Tx) error {
		rec, err := tx.Add("set", map[string]string{"what": "one"})
		return errors.Join(err, tx.PutPatch(rec.ID, []byte("what makes it exact")))
	})
	if err != nil {
		t.Fatal(err)
	}
	sweeper, err := refs.Open(r.Dir(), refstest.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	defer sweeper.Close()
	for range 40 {
		l := refs.Lane{Project: refstest.Project, Device: r.Device().ID, Originals: true}
		if l.Tip, err = r.Parts()[1].Git.Ref(l.LocalRef()); err != nil {
			t.Fatal(err)
		}
		var sweeps sync.WaitGroup
		sweeps.Go(func() {
			if err := sweeper.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		})
		x := &repair{fixer: fixer{store: r.Dir()}, r: r, Part: r.Parts()[1], ctx: t.Context()}
		_, err := x.restartLane(l, nil)
		sweeps.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			return
		}
	}
	if _, err := Check(t.Context(), r, true, func(p Problem) { t.Error(p) }); err != nil {
		t.Error(err)
	}
}
