package repair

import (
	"errors"
	"testing"

	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/incoming"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/refstest"
)

// TestDroppedDevice repairs a store after a device was dropped and before its objects were swept: the lane stays
// removed. A lane of a device that was not dropped is restored.
func TestDroppedDevice(t *testing.T) {
	t.Parallel()
	for _, dropped := range []bool{true, false} {
		a, b := refstest.New(t), refstest.New(t)
		l := refs.Lane{Project: lane.ProjectOf("x"), Device: a.Device().ID}
		err := a.Update(t.Context(), l.Project, "one", func(tx *refs.Tx) error {
			_, err := tx.Add("project", map[string]string{"identity": "x"})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		refstest.Add(t, a, l.Project, map[string]string{"target": "y"})
		if l.Tip, err = a.Git().Ref(l.Ref()); err != nil {
			t.Fatal(err)
		}
		q, got, err := carry(t, a, b, l)
		if err = errors.Join(err, q.Adopt(t.Context(), []incoming.FetchedLane{got}), q.Close()); err != nil {
			t.Fatal(err)
		}
		for _, drop := range []bool{!dropped, dropped} { // the last record counts
			err := b.Update(t.Context(), refs.Home, "drop", func(tx *refs.Tx) error {
				_, err := tx.Add("peer", map[string]any{"device": l.Device, "dropped": drop})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := b.DropDevice(t.Context(), l.Device); err != nil {
			t.Fatal(err)
		}
		fixes, _, err := FixRepositories(t.Context(), b, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if id, err := b.Git().Ref(l.Ref()); err != nil || id.IsZero() != dropped || (len(fixes) == 0) != dropped {
			t.Errorf("dropped %v: the branch is at %s, %v; fixes %v", dropped, id, err, fixes)
		}
	}
}
