package repair

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

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
		"remotes.json": bytes.Replace(good, []byte("/r"), []byte("/s"), 1),
		filepath.Join(refs.MemoryDir, "mem", refs.FormerDir, string(refs.Home)+"-"+r.Device().ID): []byte("nonsense\n"),
		filepath.Join(refs.MemoryDir, "objects", "ab", "cdef0123456789abcdef0123456789abcdef01"):  []byte("garbage"),
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
	m := &fixer{store: r.Dir()}
	for name, err := range map[string]error{
		"former": m.formerFiles(),
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
