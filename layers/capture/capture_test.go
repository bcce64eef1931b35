package capture_test

import (
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// stateOf returns the state of a project.
func stateOf(t testing.TB, m *layers.Memory, p refs.Project) *state.State {
	t.Helper()
	st, err := trust.State(t.Context(), m.DB, p)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// sessionOf returns a session of a project.
func sessionOf(t testing.TB, m *layers.Memory, p refs.Project, id string) *state.Session {
	t.Helper()
	s := stateOf(t, m, p).Session(id)
	if s == nil {
		t.Fatalf("there is no session %s", id)
	}
	return s
}
