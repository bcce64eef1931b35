package layerstest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// SampleSessions captures testdata/transcripts and returns its sessions as revisions.
func SampleSessions(t *testing.T) (*layers.Memory, []state.Rev) {
	t.Helper()
	return SampleSessionsOf(t, TestOptions())
}

// SampleSessionsOf is sampleSessions in a memory with other options.
func SampleSessionsOf(t *testing.T, o state.Options) (*layers.Memory, []state.Rev) {
	t.Helper()
	ctx := context.Background()
	m := NewMemory(t, o)
	sources, err := capture.Sources(filepath.Join("..", "..", "testdata", "transcripts"))
	if err != nil {
		t.Fatal(err)
	}
	added, err := capture.Add(ctx, m.DB, sources, capture.AddOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var revs []state.Rev
	for _, a := range added {
		st, err := trust.State(ctx, m.DB, a.Project.ID)
		if err != nil {
			t.Fatal(err)
		}
		s := st.Session(a.Session)
		revs = append(revs, state.Rev{Kind: state.IsSession, Project: a.Project, Session: s, Hash: s.Now().Original})
	}
	return m, revs
}
