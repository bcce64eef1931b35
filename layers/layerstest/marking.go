package layerstest

import (
	"context"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// Now returns the session of a revision as it is now.
func Now(t *testing.T, m *layers.Memory, rev state.Rev) state.Rev {
	t.Helper()
	st, err := trust.State(context.Background(), m.DB, rev.Project.ID)
	if err != nil {
		t.Fatal(err)
	}
	rev.Session = st.Session(rev.Session.ID)
	return rev
}
