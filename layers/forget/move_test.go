package forget_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// api selects the sessions of a directory.
func api(cwd string) bool { return cwd == "/home/dev/shop/api" }

// inAPI writes a session of that directory, with a word that no other text has, into the project of the shop.
func inAPI(t *testing.T, dir, id, text string) capture.Source {
	t.Helper()
	return layerstest.Write(t, filepath.Join(dir, id+".jsonl"), strings.ReplaceAll(text, "/home/dev/shop", "/home/dev/shop/api"))
}

// sessionsOf returns the sessions of a project, sorted.
func sessionsOf(t *testing.T, m *layers.Memory, p refs.Project) (ids []string) {
	t.Helper()
	st, err := trust.State(t.Context(), m.DB, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range st.Sessions {
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	return ids
}

// TestMove moves the sessions of a directory with all their generations, their subagents, files and cut secrets to a
// project of its own: the exact bytes are there, and nothing of them is left in the lane of the old project.
func TestMove(t *testing.T) {
	t.Parallel()
	o := layerstest.TestOptions()
	o.Rules = layerstest.ToyRules()
	m := layerstest.NewMemory(t, o)
	dir, line := t.TempDir(), layerstest.UserLine
	from := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "stays.jsonl"), line(0, "stays here")))[0].Project
	into := capture.AddOptions{Into: &from}
	first := line(1, "zaphod TOKEN_aaaaaaaa") + line(2, "and more")
	second := line(1, "rewritten zaphod") + line(2, "of the second TOKEN_bbbbbbbb") + `{"type":"user","torn zaphod`
	for _, text := range []string{first, line(1, "between, TOKEN_cccccccc"), second} {
		src := inAPI(t, dir, "s1", text)
		src.Files = []string{layerstest.Write(t, filepath.Join(dir, "tool.txt"), "the output of zaphod").Path}
		sub := inAPI(t, dir, "agent-1", line(3, "zaphod below"))
		sub.Parent = "s1"
		if _, err := capture.Add(t.Context(), m.DB, []capture.Source{src, sub}, into); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := capture.Add(t.Context(), m.DB, []capture.Source{inAPI(t, dir, "gone", line(4, "removed"))}, into); err != nil {
		t.Fatal(err)
	}
	if err := m.Refs.Update(t.Context(), from.ID, "remove", func(tx *refs.Tx) error {
		_, err := tx.Add(records.KindSet, records.SetBody{Target: "session/gone", Field: "deleted", Value: true})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	to := state.Project{ID: "00000000000000cc", Name: "api", Identity: "/home/dev/shop/api"}
	before := layerstest.Restored(t, m, from.ID, "s1")

	planned, err := forget.Move(t.Context(), m.DB, from, to, api, filepath.Join(t.TempDir(), "dry"), true)
	if err != nil || !slices.Equal(planned.Sessions, []string{"s1"}) || planned.Removed != 1 {
		t.Errorf("a dry run of Move = %+v, %v", planned, err)
	}
	if now := sessionsOf(t, m, to.ID); len(now) > 0 {
		t.Fatalf("a dry run moves %v", now)
	}
	temp := filepath.Join(t.TempDir(), "temp")
	moved, err := forget.Move(t.Context(), m.DB, from, to, api, temp, false)
	if err != nil || !slices.Equal(moved.Sessions, planned.Sessions) || moved.Removed != 1 || moved.Others != 0 {
		t.Fatalf("Move = %+v, %v", moved, err)
	}
	after := layerstest.Restored(t, m, to.ID, "s1")
	if len(after) != 3 || !slices.EqualFunc(after, before, bytes.Equal) {
		t.Errorf("after the move the generations are\n%q\nwant\n%q", after, before)
	}
	if got := layerstest.Restored(t, m, to.ID, "agent-1"); len(got) != 1 || !strings.Contains(string(got[0]), "zaphod below") {
		t.Errorf("the subagent is %q", got)
	}
	if got := sessionsOf(t, m, from.ID); !slices.Equal(got, []string{"gone", "stays"}) {
		t.Errorf("the old project has %v", got)
	}
	v := &forget.Prover{M: m.DB, Needles: [][]byte{[]byte("zaphod")}, Out: forget.Proof{Others: map[string]int{}}}
	if err := v.Lane(t.Context(), refs.Lane{Project: from.ID, Device: m.Refs.Device().ID}); err != nil || len(v.Out.Left) > 0 {
		t.Errorf("in the lane of the old project is left: %v, %v", v.Out.Left, err)
	}
	layerstest.CheckClean(t, m)

	if again, err := forget.Move(t.Context(), m.DB, from, to, api, temp, false); err != nil || len(again.Sessions) > 0 {
		t.Errorf("a second Move = %+v, %v", again, err)
	}
}

// TestMoveAgain goes on after an interruption between the capture and the deletion: the session is then in both projects.
func TestMoveAgain(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	dir := t.TempDir()
	from := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "stays.jsonl"), layerstest.UserLine(0, "stays here")))[0].Project
	to := state.Project{ID: "00000000000000cc", Name: "api", Identity: "/home/dev/shop/api"}
	src := inAPI(t, dir, "s1", layerstest.UserLine(1, "zaphod"))
	for _, p := range []*state.Project{&from, &to} {
		if _, err := capture.Add(t.Context(), m.DB, []capture.Source{src}, capture.AddOptions{Into: p}); err != nil {
			t.Fatal(err)
		}
	}
	moved, err := forget.Move(t.Context(), m.DB, from, to, api, filepath.Join(t.TempDir(), "temp"), false)
	if err != nil || !slices.Equal(moved.Sessions, []string{"s1"}) {
		t.Errorf("Move = %+v, %v", moved, err)
	}
	if a, b := sessionsOf(t, m, from.ID), sessionsOf(t, m, to.ID); !slices.Equal(a, []string{"stays"}) || !slices.Equal(b, []string{"s1"}) {
		t.Errorf("the projects have %v and %v", a, b)
	}
	if got := layerstest.Restored(t, m, to.ID, "s1"); len(got) != 1 {
		t.Errorf("the new project has %d growth points, want the one that it had", len(got))
	}
}

// TestMoveNeedsTheBytes moves nothing if the exact bytes cannot be written.
func TestMoveNeedsTheBytes(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	dir := t.TempDir()
	from := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "stays.jsonl"), layerstest.UserLine(0, "stays here")))[0].Project
	if _, err := capture.Add(t.Context(), m.DB, []capture.Source{inAPI(t, dir, "s1", layerstest.UserLine(1, "zaphod"))}, capture.AddOptions{Into: &from}); err != nil {
		t.Fatal(err)
	}
	temp := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(temp, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	to := state.Project{ID: "00000000000000cc", Name: "api"}
	if moved, err := forget.Move(t.Context(), m.DB, from, to, api, temp, false); err == nil || !strings.Contains(err.Error(), "read session s1") {
		t.Errorf("Move = %+v, %v; want an error with the session", moved, err)
	}
	if a, b := sessionsOf(t, m, from.ID), sessionsOf(t, m, to.ID); !slices.Equal(a, []string{"s1", "stays"}) || len(b) > 0 {
		t.Errorf("the projects have %v and %v", a, b)
	}
}
