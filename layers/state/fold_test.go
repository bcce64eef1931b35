package state_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/state"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/refs"
)

const (
	here = "11111111111111111111111111111111"
	desk = "22222222222222222222222222222222"
)

// TestNameVersions holds that a label means this device's own version; that of another device with the same label has
// the device in its name.
func TestNameVersions(t *testing.T) {
	t.Parallel()
	st := state.NewState("0123456789abcdef")
	for i, v := range [][2]string{{here, "v001"}, {desk, "v001"}, {desk, "v002"}} {
		stamp := records.Stamp{Lamport: uint64(i + 1), Device: v[0]}
		st.Stored.Versions = append(st.Stored.Versions, state.StoredItem[records.Version]{Stamp: stamp, Body: &records.Version{Session: "s1", Label: v[1]}})
	}
	st.Finish(here)
	var got []string
	for _, v := range st.Versions {
		got = append(got, v.Name())
	}
	if got := strings.Join(got, " "); got != "v001 v001~22222222 v002" {
		t.Errorf("the versions are called %s", got)
	}
}

// TestFamilies holds that sessions with the same typed message are one conversation.
func TestFamilies(t *testing.T) {
	t.Parallel()
	session := func(id, parent string, typed ...byte) *state.Session {
		p := records.Point{Snapshot: records.Snapshot{Session: id, Parent: parent}}
		for i, k := range typed {
			p.Typed = append(p.Typed, records.TypedKey{N: i + 1, Key: [8]byte{k}})
		}
		return &state.Session{ID: id, Points: []records.Point{p}}
	}
	st := &state.State{Sessions: []*state.Session{session("a", "", 1), session("b", "", 2), session("c", ""), session("d", "", 1)}}
	of := st.Families()
	if of("a") != of("d") {
		t.Error("a and its copy d are two conversations")
	}
	if of("a") == of("b") || of("a") == of("c") || of("b") == of("c") {
		t.Errorf("a, b and c are of the conversations %s, %s, %s, want three", of("a"), of("b"), of("c"))
	}
}

// TestNameOfProject folds names of a project, one of them empty, in both orders.
func TestNameOfProject(t *testing.T) {
	t.Parallel()
	for _, lamports := range [][2]uint64{{3, 5}, {5, 3}} {
		st := state.NewState("0123456789abcdef")
		for _, n := range lamports {
			b, err := json.Marshal(records.ProjectBody{Name: map[uint64]string{3: "shop"}[n]})
			if err != nil {
				t.Fatal(err)
			}
			r := refs.Record{Kind: records.KindProject, Device: desk, Lamport: n, Body: b}
			if err := st.Apply(r); err != nil {
				t.Fatal(err)
			}
		}
		if st.Name != "shop" || st.NameStamp.Lamport != 3 {
			t.Errorf("in the order %v the project is called %q", lamports, st.Name)
		}
	}
}

// TestManyCompositions lists the compositions, and the projects of their parts, of a state that a hostile lane filled.
func TestManyCompositions(t *testing.T) {
	t.Parallel()
	const n = 200_000
	st := &state.State{Project: "0123456789abcdef"}
	for i := range n {
		part := records.CompositionPart{Project: refs.Project(fmt.Sprintf("%016x", i))}
		st.Compositions = append(st.Compositions,
			&records.Composition{Name: fmt.Sprintf("c%06d", i), Parts: []records.CompositionPart{part, part}})
	}
	st.Compositions[1].Name = st.Compositions[0].Name
	start := time.Now()
	if got := st.PartsFrom(); len(got) != n || got[n-1] != st.Compositions[n-1].Parts[0].Project {
		t.Errorf("%d projects, want %d", len(got), n)
	}
	if got := st.Named(); len(got) != n-1 || got[0] != st.Compositions[1] {
		t.Errorf("%d compositions, want %d", len(got), n-1)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}
