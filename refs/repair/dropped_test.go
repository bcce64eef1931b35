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
