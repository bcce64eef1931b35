package state_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// TestStateOfAnyOrder folds the records of a store with growth, rewriting, removals and two devices in many
// orders, and in two parts with a finished state between them: the state is always the same.
func TestStateOfAnyOrder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "memory")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "testdata", "store", "v1"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	m, err := layers.Open(dir, layerstest.TestOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	projects, err := m.Repo().Projects()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	projects = append(projects, refs.Home)
	for _, p := range projects {
		var records []refs.Record
		err := m.Repo().View(t.Context(), p, func(tx *refs.Tx) (err error) {
			records, err = tx.Records(t.Context(), nil)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		want := folded(t, p, records, len(records))
		for range 50 {
			shuffled := slices.Clone(records)
			rng.Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
			if got := folded(t, p, shuffled, rng.IntN(len(shuffled)+1)); !bytes.Equal(got, want) {
				t.Fatalf("project %s: another state in the order %v", p, shuffled)
			}
		}
	}
}

// folded returns the state of records as the cache holds it, finished after the first n of them too.
func folded(t *testing.T, p refs.Project, records []refs.Record, n int) []byte {
	t.Helper()
	st := state.NewState(p)
	for i, r := range records {
		if i == n {
			st.Finish("")
		}
		if err := st.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	st.Finish("")
	return state.Encode(state.Version, st)
}

// TestPathsAreTheDevices gives a memory the word of another device on a directory: it counts for nothing.
func TestPathsAreTheDevices(t *testing.T) {
	t.Parallel()
	st := state.NewState(refs.Home)
	for i, device := range []string{"here", "there"} {
		st.Paths = append(st.Paths, state.StoredPath{Stamp: records.Stamp{Lamport: uint64(i), Device: device}, PathBody: records.PathBody{Path: "/src", Name: "the one " + device}})
	}
	if got := st.PathsOf("here"); len(got) != 1 || got[0].Name != "the one here" {
		t.Errorf("pathsOf(here) = %v, want the one here", got)
	}
}
