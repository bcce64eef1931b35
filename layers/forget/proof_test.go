package forget_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// TestHolds hides a word in every kind of place of a store: each is found, also at the border of what is searched at
// once.
func TestHolds(t *testing.T) {
	t.Parallel()
	const word = "zaphod-beeblebrox-42"
	border := strings.Repeat("x", originals.WindowSize-len(word)/2) + word
	for what, c := range map[string]struct {
		hide func(t *testing.T, m *state.DB, p refs.Project) error
		left string
	}{
		"nowhere": {func(*testing.T, *state.DB, refs.Project) error { return nil }, ""},
		"an object": {func(t *testing.T, m *state.DB, p refs.Project) error {
			return m.Refs.Update(t.Context(), p, "put", func(tx *refs.Tx) error {
				_, err := tx.Put(t.Context(), strings.NewReader("of "+word))
				return err
			})
		}, "memory.git object"},
		"a record": {func(t *testing.T, m *state.DB, p refs.Project) error {
			return m.Refs.Update(t.Context(), p, "add", func(tx *refs.Tx) error {
				_, err := tx.Add("mark", map[string]string{"text": word})
				return err
			})
		}, "memory.git record"},
		"the message of a commit": {func(t *testing.T, m *state.DB, p refs.Project) error {
			return m.Refs.Update(t.Context(), p, "about "+word, func(tx *refs.Tx) error {
				_, err := tx.Add("mark", map[string]string{"text": "a"})
				return err
			})
		}, "memory.git commit"},
		"a patch": {func(t *testing.T, m *state.DB, p refs.Project) error {
			return m.Refs.Update(t.Context(), p, "patch", func(tx *refs.Tx) error {
				r, err := tx.Add("mark", map[string]string{"text": "a"})
				if err != nil {
					return err
				}
				return tx.PutPatch(r.ID, []byte("of "+word))
			})
		}, "originals.git object"},
		"a note of a hook": {func(_ *testing.T, m *state.DB, _ refs.Project) error {
			return os.WriteFile(filepath.Join(m.Refs.Dir(), "spool", "n"), []byte(word), 0o600)
		}, "spool/n"},
		"the border of a window in a cache": {func(_ *testing.T, m *state.DB, _ refs.Project) error {
			return os.WriteFile(filepath.Join(m.Refs.Dir(), "cache", "c"), []byte(border), 0o600)
		}, "cache/c"},
		"the end of a long stream": {func(t *testing.T, m *state.DB, p refs.Project) error {
			s, err := m.Refs.Stage(t.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			if _, err := s.PutLong(t.Context(), strings.NewReader(border)); err != nil {
				return err
			}
			return m.Refs.Update(t.Context(), p, "long", func(tx *refs.Tx) error { return tx.Adopt(s) })
		}, "memory.git stream"},
		"a damaged file": {func(_ *testing.T, m *state.DB, _ refs.Project) error {
			dir := filepath.Join(m.Refs.Dir(), refs.DamagedDir)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "f"), nil, 0o600)
		}, "damaged/f, which is damaged"},
	} {
		m := layerstest.NewMemory(t, layerstest.TestOptions())
		p := layerstest.Add(t, m, layerstest.Session(t, "s1", "/home/dev/shop", 3))[0].Project.ID
		if err := c.hide(t, m.DB, p); err != nil {
			t.Fatal(err)
		}
		left, err := forget.Holds(t.Context(), m.DB, []byte(word))
		if err != nil || (len(left) > 0) != (c.left != "") || c.left != "" && !slices.ContainsFunc(left, func(s string) bool { return strings.HasPrefix(s, c.left) }) {
			t.Errorf("in %s: found in %v, %v; want %q", what, left, err, c.left)
		}
	}
}

// TestForgottenMessages lists each forgotten message once, as it was deleted first, and the deletion of all of a message
// before that of a part of it.
func TestForgottenMessages(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	text := layerstest.UserLine(1, "one zaphod") + layerstest.UserLine(2, "two") + layerstest.UserLine(3, "three arthur and zaphod")
	layerstest.Add(t, m, layerstest.Write(t, filepath.Join(t.TempDir(), "s1.jsonl"), text))
	layerstest.ForgetText(t, m, forget.ForgetOptions{Secret: []byte("arthur")})
	layerstest.ForgetText(t, m, forget.ForgetOptions{Secret: []byte("zaphod")})
	list := func(from, to int) (out []int) {
		t.Helper()
		rev := layerstest.RevOf(t, m, "s1")
		found, err := forget.ForgottenMessages(t.Context(), m.DB, rev.Project.ID, rev.Session, from, to)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if !f.Part {
				t.Errorf("message %d is forgotten as a whole", f.Message)
			}
			out = append(out, f.Message)
		}
		return out
	}
	for _, c := range []struct {
		from, to int
		want     []int
	}{{1, 3, []int{1, 3}}, {2, 2, nil}, {2, 3, []int{3}}} {
		if got := list(c.from, c.to); !slices.Equal(got, c.want) {
			t.Errorf("forgotten from %d to %d are %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

// TestUnfinishedForgetting finishes a deletion that was interrupted, whatever its note contains.
func TestUnfinishedForgetting(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	layerstest.Add(t, m, layerstest.Session(t, "s1", "/home/dev/shop", 3))
	if found, err := forget.FinishForgetting(t.Context(), m.DB); found || err != nil {
		t.Errorf("FinishForgetting without a deletion = %v, %v", found, err)
	}
	file := filepath.Join(m.Refs.Dir(), "forgetting")
	for _, note := range []string{"", "{"} {
		if err := os.WriteFile(file, []byte(note), 0o600); err != nil {
			t.Fatal(err)
		}
		if found, err := forget.FinishForgetting(t.Context(), m.DB); !found || err != nil {
			t.Errorf("FinishForgetting = %v, %v", found, err)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s remains after the end of the deletion", file)
		}
	}
	layerstest.CheckClean(t, m)
}
