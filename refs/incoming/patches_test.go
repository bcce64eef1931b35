package incoming

import (
	"errors"
	"testing"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/refstest"
)

// TestPatches fetches lanes of exact bytes with a patch that arrived, is missing, is damaged or is no file.
func TestPatches(t *testing.T) {
	t.Parallel()
	a := refstest.New(t)
	remote := refs.Remote{Name: "origin", Originals: true}
	git, err := a.Originals(remote)
	if err != nil {
		t.Fatal(err)
	}
	small, large := []byte("exact"), []byte(noise(2*maxHashInMemory))
	put := func(patch []byte) {
		t.Helper()
		err := a.Update(t.Context(), refstest.Project, "more", func(tx *refs.Tx) error {
			r, err := tx.Add("set", map[string]int{"size": len(patch)})
			if err != nil {
				return err
			}
			return tx.PutPatch(r.ID, patch)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(small)
	put(large)
	l := refs.Lane{Project: refstest.Project, Device: a.Device().ID, Originals: true}
	if l.Tip, err = git.Ref(l.LocalRef()); err != nil || l.Tip.IsZero() {
		t.Fatal(l, err)
	}
	live, err := lane.Reachable(t.Context(), git)
	if err != nil {
		t.Fatal(err)
	}
	check := func(patch []byte, instead *pack.Entry) error {
		q, err := BeginOriginals(t.Context(), refstest.New(t), remote)
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		w, err := q.Writer()
		if err != nil {
			t.Fatal(err)
		}
		for id := range live {
			e, err := git.Packs().Entry(id)
			if err != nil {
				t.Fatal(err)
			}
			if id == pack.Name(pack.Blob, patch) {
				if instead == nil {
					continue
				}
				e = *instead
				e.ID = id
			}
			if err := w.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.Finish(w); err != nil {
			t.Fatal(err)
		}
		_, err = q.Check(t.Context(), l, a.Device().PublicKey())
		return err
	}
	if err := check(nil, nil); err != nil {
		t.Errorf("a lane that is in order: %v", err)
	}
	for _, patch := range [][]byte{small, large} {
		if err := check(patch, nil); !errors.Is(err, ErrRefused) || !errors.Is(err, pack.ErrNotFound) {
			t.Errorf("a missing patch of %d bytes: %v, want ErrNotFound", len(patch), err)
		}
		other := pack.Encode(pack.Blob, append(patch, 'x'), 0)
		if err := check(patch, &other); !errors.Is(err, ErrRefused) || !errors.Is(err, pack.ErrCorrupt) {
			t.Errorf("a damaged patch of %d bytes: %v, want ErrCorrupt", len(patch), err)
		}
		tree := pack.Encode(pack.Tree, patch, 0)
		if err := check(patch, &tree); !errors.Is(err, ErrRefused) {
			t.Errorf("a patch of %d bytes that is a tree: %v", len(patch), err)
		}
	}
}
