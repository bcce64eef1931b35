package trust_test

import (
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/trust"
)

// TestTrustElsewhere trusts and revokes a device in another process. A store that stays open, as that of mem serve,
// sees it.
func TestTrustElsewhere(t *testing.T) {
	t.Parallel()
	h := layerstest.NewHub(t, "dir")
	a, b := h.Memory(t, "laptop"), h.Memory(t, "desk")
	p := layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 3))[0].Project.ID
	layerstest.PushAll(t, a)
	layerstest.FetchAll(t, b)
	other, err := layers.Open(b.Refs.Dir(), layerstest.TestOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	known, err := trust.Devices(t.Context(), b.DB)
	if err != nil || len(known) != 2 {
		t.Fatalf("devices %+v, %v", known, err)
	}
	for _, trusted := range []bool{false, true, false} {
		if err := trust.TrustDevice(t.Context(), other.DB, known[1], trusted); err != nil {
			t.Fatal(err)
		}
		st, err := trust.Outline(t.Context(), b.DB, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(st.Sessions) > 0; got != trusted {
			t.Errorf("trusted %v: %d sessions", trusted, len(st.Sessions))
		}
	}
}
