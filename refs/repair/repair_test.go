package repair

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/incoming"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/refstest"
)

// TestKeepFails repairs a store in which damaged files cannot be kept: they stay where they are.
func TestKeepFails(t *testing.T) {
	t.Parallel()
	r := refstest.New(t)
	err := r.EditRemotes(t.Context(), func(l []refs.Remote) ([]refs.Remote, error) {
		return append(l, refs.Remote{Name: "origin", URL: "/r"}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(r.Dir(), "remotes.json"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := map[string][]byte{
		"remotes.json":  bytes.Replace(good, []byte("/r"), []byte("/s"), 1),
		refs.FormerFile: []byte("nonsense\n"),
		filepath.Join(refs.MemoryDir, "objects", "ab", "cdef0123456789abcdef0123456789abcdef01"): []byte("garbage"),
	}
	for name, b := range damaged {
		file := filepath.Join(r.Dir(), name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(r.Dir(), refs.DamagedDir), []byte("not a directory"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = FixFormer(t.Context(), r, []Fix{{Where: refs.FormerFile}}, false)
	for name, err := range map[string]error{
		"former": err,
		"loose":  (&repair{fixer: fixer{store: r.Dir()}, r: r, Part: r.Parts()[0], ctx: t.Context()}).loose(),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, want := range damaged {
		if got, err := os.ReadFile(filepath.Join(r.Dir(), name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
}

// TestRefetchDamaged fetches a missing object from a remote that has it with other content.
func TestRefetchDamaged(t *testing.T) {
	t.Parallel()
	r := refstest.New(t)
	refstest.Populate(t, r)
	l := refstest.OwnLane(t, r)
	blob := pack.Name(pack.Blob, []byte("an object"))
	if err := pack.Drop(r.Git().PackDir(), "merge", func(id pack.ID) bool { return id != blob }); err != nil {
		t.Fatal(err)
	}
	if err := r.Git().Close(); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"an Object", "an object"} {
		fetch := func(_ context.Context, _ []string, w *pack.Writer) (map[string]pack.ID, error) {
			e := pack.Encode(pack.Blob, []byte(content), 0)
			e.ID = blob
			return map[string]pack.ID{lane.Ref(refstest.Project, r.Device().ID): l.Tip}, w.Add(e)
		}
		fixes, lost, err := FixRepositories(t.Context(), r, false, fetch)
		if err != nil {
			t.Fatal(err)
		}
		ok, err := r.Git().Has(blob)
		whole := content == "an object"
		if err != nil || ok != whole || (len(lost) == 0) != whole || (len(fixes) == 1) != whole {
			t.Errorf("%q: Has = %v, %v, fixes %v, lost %v", content, ok, err, fixes, lost)
		}
	}
	mustClean(t, r)
}

// TestDryRunDamagedPack plans a repair of packs with one damaged byte.
func TestDryRunDamagedPack(t *testing.T) {
	t.Parallel()
	r := refstest.New(t)
	refstest.Populate(t, r)
	packs, err := filepath.Glob(filepath.Join(r.Git().PackDir(), "*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	for _, file := range packs {
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, 4, 8, 12, 13, len(good) / 2, len(good) - 30, len(good) - 1} {
			if err := r.Git().Close(); err != nil {
				t.Fatal(err)
			}
			bad := bytes.Clone(good)
			bad[i] ^= 0xff
			if err := os.WriteFile(file, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			fixes, _, err := FixRepositories(t.Context(), r, true, nil)
			if err != nil || len(fixes) != 1 || fixes[0].Where != refs.MemoryDir+"/objects/pack/"+filepath.Base(file) {
				t.Errorf("byte %d: %v, %v, want the repair of the pack", i, fixes, err)
			}
		}
		if err := os.WriteFile(file, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRefetchForged loses the newest commit of another device's only lane, and fetches from a remote with a lane that
// somebody signed with another key for the same device: nothing of it is taken.
func TestRefetchForged(t *testing.T) {
	t.Parallel()
	a, b := refstest.New(t), refstest.New(t)
	id, err := hex.DecodeString(a.Device().ID)
	if err != nil {
		t.Fatal(err)
	}
	o := refstest.Options(t)
	o.Rand = io.MultiReader(bytes.NewReader(id), o.Rand)
	forger := refstest.NewOf(t, o)
	l := refs.Lane{Project: lane.ProjectOf("x"), Device: a.Device().ID}
	for i, r := range []*refs.Repo{a, a, forger, forger, forger, forger} {
		err := r.Update(t.Context(), l.Project, "more", func(tx *refs.Tx) error {
			if _, err := tx.Add("project", map[string]string{"identity": "x"}); err != nil {
				return err
			}
			_, err := tx.Add("set", map[string]int{"n": i})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if l.Tip, err = a.Git().Ref(l.Ref()); err != nil {
		t.Fatal(err)
	}
	q, got, err := carry(t, a, b, l)
	if err = errors.Join(err, q.Adopt(t.Context(), []incoming.FetchedLane{got}), q.Close()); err != nil {
		t.Fatal(err)
	}
	err = pack.Drop(b.Git().PackDir(), "merge", func(id pack.ID) bool { return id != l.Tip })
	if err = errors.Join(err, b.Git().Close()); err != nil {
		t.Fatal(err)
	}
	forged, err := forger.Git().Ref(l.Ref())
	if err != nil {
		t.Fatal(err)
	}
	fetch := func(_ context.Context, _ []string, w *pack.Writer) (map[string]pack.ID, error) {
		for _, id := range refstest.InOrder(t, forger) {
			e, err := forger.Git().Packs().Entry(id)
			if err = errors.Join(err, w.Add(e)); err != nil {
				return nil, err
			}
		}
		return map[string]pack.ID{l.Ref(): forged}, nil
	}
	if _, _, err := FixRepositories(t.Context(), b, false, fetch); err != nil {
		t.Fatal(err)
	}
	if ok, err := b.Git().Has(forged); ok || err != nil {
		t.Errorf("Has(forged) = %v, %v", ok, err)
	}
	if key, err := b.KeyOf(l.Device); err != nil || key != a.Device().PublicKey() {
		t.Errorf("KeyOf = %s, %v, want %s", key, err, a.Device().PublicKey())
	}
}

// mustClean checks a store, as git does, too.
func mustClean(t *testing.T, r *refs.Repo) {
	t.Helper()
	if _, err := Check(t.Context(), r, true, func(p Problem) { t.Errorf("check: %s", p) }); err != nil {
		t.Fatal(err)
	}
	refstest.Fsck(t, r)
}

// carry brings all objects of one repository into the quarantine of another and checks a lane there.
func carry(t *testing.T, from, to *refs.Repo, l refs.Lane) (*incoming.Quarantine, incoming.FetchedLane, error) {
	t.Helper()
	ctx := context.Background()
	q, err := incoming.Begin(ctx, to)
	if err != nil {
		t.Fatal(err)
	}
	w, err := q.Writer()
	if err != nil {
		t.Fatal(err)
	}
	p := refstest.Packed(t, from, refstest.InOrder(t, from))
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

// TestDroppedDevice repairs a store after a device was dropped and before its objects were swept: the lane stays
// removed.
func TestDroppedDevice(t *testing.T) {
	t.Parallel()
	a, b := refstest.New(t), refstest.New(t)
	l := refs.Lane{Project: lane.ProjectOf("x"), Device: a.Device().ID}
	refstest.Add(t, a, l.Project, map[string]string{"target": "x"})
	refstest.Add(t, a, l.Project, map[string]string{"target": "y"})
	var err error
	if l.Tip, err = a.Git().Ref(l.Ref()); err != nil {
		t.Fatal(err)
	}
	q, got, err := carry(t, a, b, l)
	if err = errors.Join(err, q.Adopt(t.Context(), []incoming.FetchedLane{got}), q.Close()); err != nil {
		t.Fatal(err)
	}
	if err := b.DropDevice(t.Context(), l.Device); err != nil {
		t.Fatal(err)
	}
	fixes, _, err := FixRepositories(t.Context(), b, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if id, err := b.Git().Ref(l.Ref()); err != nil || !id.IsZero() || len(fixes) > 0 {
		t.Errorf("the branch is at %s, %v; fixes %v", id, err, fixes)
	}
}
