package refs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// TestRepairBesideUpdate repairs a branch while another process writes: what that one was told is stored is there, and so is what was
// before.
func TestRepairBesideUpdate(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"damaged", "gone"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			record := func(r *Repo, what string) (id objects.Hash, err error) {
				return id, r.Update(t.Context(), testProject, what, func(tx *Tx) error {
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
			file := filepath.Join(r.dir, memoryDir, filepath.FromSlash(lane.Ref(testProject, r.device.ID)))
			err := os.Remove(file)
			if err == nil && how == "damaged" {
				err = os.WriteFile(file, []byte("garbage\n"), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			other, err := Open(r.dir, testOptions())
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
			if _, _, err := r.Repair(t.Context(), false, during); err != nil {
				t.Fatal(err)
			}
			id, err := record(r, "after")
			if err != nil {
				t.Fatal(err)
			}
			err = r.View(t.Context(), testProject, func(tx *Tx) error {
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
	for _, part := range []string{memoryDir, originalsDir} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			var rec Record
			patch := []byte("what makes it exact")
			err := r.Update(t.Context(), testProject, "one", func(tx *Tx) (err error) {
				if rec, err = tx.Add("set", map[string]string{"what": "one"}); err != nil {
					return err
				}
				return tx.PutPatch(rec.ID, patch)
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(r.dir, part, filepath.FromSlash(lane.Ref(testProject, r.device.ID)))); err != nil {
				t.Fatal(err)
			}
			if err := r.Sweep(t.Context()); !errors.Is(err, ErrDamaged) {
				t.Errorf("Sweep = %v, want %v", err, ErrDamaged)
			}
			if did, lost, err := r.Repair(t.Context(), false, nil); err != nil || len(did) != 1 || len(lost) > 0 {
				t.Fatalf("Repair = %v, %v, %v", did, lost, err)
			}
			err = r.View(t.Context(), testProject, func(tx *Tx) error {
				_, err := tx.Record(rec.ID)
				b, perr := tx.Patch(r.device.ID, rec.ID)
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
	r := newRepo(t)
	err := r.Update(t.Context(), testProject, "one", func(tx *Tx) error {
		rec, err := tx.Add("set", map[string]string{"what": "one"})
		return errors.Join(err, tx.PutPatch(rec.ID, []byte("what makes it exact")))
	})
	if err != nil {
		t.Fatal(err)
	}
	sweeper, err := Open(r.dir, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer sweeper.Close()
	for range 40 {
		l := Lane{Project: testProject, Device: r.device.ID, Originals: true}
		if l.Tip, err = r.originals.Ref(l.Local()); err != nil {
			t.Fatal(err)
		}
		var sweeps sync.WaitGroup
		sweeps.Go(func() {
			if err := sweeper.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		})
		x := &repair{mender: mender{store: r.dir}, r: r, part: part{originalsDir, r.originals}, ctx: t.Context()}
		_, err := x.reroot(l, nil)
		sweeps.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			return
		}
	}
	if _, err := r.Check(t.Context(), true, func(p Problem) { t.Error(p) }); err != nil {
		t.Error(err)
	}
}
