package repair

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/refstest"
)

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
