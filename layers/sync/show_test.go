package sync_test

import (
	"testing"

	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// TestConsentOnce pushes a project with lanes of this device and of its former identity: the user is asked once.
func TestConsentOnce(t *testing.T) {
	t.Parallel()
	h := layerstest.NewHub(t, "dir")
	m := h.Memory(t, "laptop")
	layerstest.Add(t, m, layerstest.Session(t, "s1", "/home/dev/shop", 3))
	if err := m.Refs.NewDeviceID(t.Context()); err != nil {
		t.Fatal(err)
	}
	layerstest.Add(t, m, layerstest.Session(t, "s2", "/home/dev/shop", 3))
	projects, err := trust.Projects(t.Context(), m.DB)
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range []bool{false, true} {
		asked := 0
		out, err := sync.Push(t.Context(), m.DB, sync.PushOptions{Remote: layerstest.Origin(t, m), Projects: projects,
			Consent: func(state.Project, refs.Remote) (bool, error) { asked++; return answer, nil }})
		if err != nil {
			t.Fatal(err)
		}
		if asked != 1 || len(out.Lanes) != 2 || (out.Lanes[0].Status == "declined") == answer ||
			out.Lanes[0].Status != out.Lanes[1].Status {
			t.Errorf("answer %v: asked %d times, lanes %+v", answer, asked, out.Lanes)
		}
	}
}
