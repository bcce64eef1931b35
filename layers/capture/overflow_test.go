package capture_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/capture"
	capturing "github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/trust"
)

// TestOverflowFiles captures a session whose tool results have files of their own, with secrets in them: what
// travels is clean, the exact bytes can be had back at every growth point, and what is as it was is stored once.
func TestOverflowFiles(t *testing.T) {
	t.Parallel()
	o := layerstest.TestOptions()
	o.Rules = layerstest.ToyRules()
	m := layerstest.NewMemory(t, o)
	dir := t.TempDir()
	path, results := filepath.Join(dir, "s1.jsonl"), filepath.Join(dir, "s1", "tool-results")
	if err := os.MkdirAll(results, 0o700); err != nil {
		t.Fatal(err)
	}
	file := func(name, text string) { layerstest.Write(t, filepath.Join(results, name), text) }
	text := layerstest.UserLine(1, "one")
	type state map[string]string
	var states []state
	store := func(want string, files state) {
		t.Helper()
		for name, content := range files {
			file(name, content)
		}
		a := layerstest.Add(t, m, layerstest.Write(t, path, text))[0]
		if a.Change != want {
			t.Fatalf("%s, want %s", a.Change, want)
		}
		if want != "unchanged" {
			states = append(states, files)
		}
	}
	store("new", state{"a.txt": "plain\n", "b.json": `{"key":"TOKEN_12345678"}`})
	store("unchanged", state{"a.txt": "plain\n", "b.json": `{"key":"TOKEN_12345678"}`})
	store("grown", state{"a.txt": "plain\nand TOKEN_aaaaaaaa\n", "b.json": `{"key":"TOKEN_12345678"}`})
	text += layerstest.UserLine(2, "TOKEN_zzzzzzzz")
	store("grown", state{"a.txt": "plain\nand TOKEN_aaaaaaaa\n", "b.json": `{"key":"TOKEN_87654321"}`}) // equal when clean
	store("unchanged", state{"a.txt": "plain\nand TOKEN_aaaaaaaa\n", "b.json": `{"key":"TOKEN_87654321"}`})
	store("grown", state{"a.txt": "plain\n", "b.json": `{"key":"TOKEN_87654321"}`})
	text += `{"type":"user","mess`
	store("grown", state{"a.txt": "plain\n", "b.json": `{"key":"TOKEN_87654321"}`})
	store("grown", state{"a.txt": "more\n", "b.json": `{"key":"TOKEN_87654321"}`}) // with a torn end as it was

	p := layerstest.Add(t, m, capturing.SourceOf(path))[0].Project.ID
	st, err := trust.State(t.Context(), m.DB, p)
	if err != nil {
		t.Fatal(err)
	}
	s := st.Session("s1")
	if len(s.Points) != len(states) {
		t.Fatalf("%d growth points, want %d", len(s.Points), len(states))
	}
	for i, want := range states {
		got := state{}
		for _, f := range s.Points[i].Files {
			var b bytes.Buffer
			if err := capture.WriteFile(t.Context(), m.DB, capture.SessionPoint{Project: p, Session: s, Point: &s.Points[i]}, f, &b); err != nil {
				t.Fatalf("growth point %d, %s: %v", i, f.Name, err)
			}
			if got[f.Name] = b.String(); f.Withheld != strings.Contains(b.String(), "TOKEN_") {
				t.Errorf("growth point %d, %s: withheld %v", i, f.Name, f.Withheld)
			}
		}
		if len(got) != len(want) || got["a.txt"] != want["a.txt"] || got["b.json"] != want["b.json"] {
			t.Errorf("growth point %d: %q, want %q", i, got, want)
		}
	}
	layerstest.NoSecret(t, m, p)
	layerstest.CheckClean(t, m)
	if c, err := repair.Check(t.Context(), m.DB, true); err != nil || len(c.Problems) > 0 {
		t.Errorf("check: %v, %v", c.Problems, err)
	}
}

// TestOverflowElsewhere asks for the exact bytes of a file that another device captured.
func TestOverflowElsewhere(t *testing.T) {
	t.Parallel()
	o := layerstest.TestOptions()
	o.Rules = layerstest.ToyRules()
	a, b := layerstest.NewMemory(t, o), layerstest.NewMemory(t, o)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "s1", "tool-results"), 0o700); err != nil {
		t.Fatal(err)
	}
	layerstest.Write(t, filepath.Join(dir, "s1", "tool-results", "a.txt"), "TOKEN_12345678")
	p := layerstest.Add(t, a, layerstest.Write(t, filepath.Join(dir, "s1.jsonl"), layerstest.UserLine(1, "one")))[0].Project
	layerstest.Fetch(t, b, a)
	b = layerstest.Reopen(t, b)
	now := layerstest.NowOf(t, b, p)
	st, err := trust.State(t.Context(), b.DB, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := capture.WriteFile(t.Context(), b.DB, capture.SessionPoint{Project: p.ID, Session: st.Session("s1"), Point: now}, now.Files[0], &bytes.Buffer{}); !errors.Is(err, originals.ErrWithheld) {
		t.Errorf("WriteFile: %v, want ErrWithheld", err)
	}
	if c, err := repair.Check(t.Context(), b.DB, true); err != nil || len(c.Problems) > 0 || c.Withheld != 1 {
		t.Errorf("check: %d withheld, %v, %v", c.Withheld, c.Problems, err)
	}
}
