package forget_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// reflectOn stores that a model was shown candidates in which sessions spoke.
func reflectOn(t *testing.T, m *layers.Memory, p refs.Project, witness string, sessions ...string) objects.Hash {
	t.Helper()
	ctx := context.Background()
	stage, err := m.Refs.Stage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer stage.Close()
	if _, err := stage.Put([]byte(witness)); err != nil {
		t.Fatal(err)
	}
	err = m.Refs.Update(ctx, p, "reflect", func(tx *refs.Tx) error {
		if err := tx.Adopt(stage); err != nil {
			return err
		}
		tx.Trailer("Op", "reflect")
		_, err := tx.Add(permanent.KindReflect, permanent.Reflection{Seen: 1, Candidates: 1, Engine: "test/1", Witnesses: []objects.Hash{objects.Sum([]byte(witness))}, Sessions: sessions})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return objects.Sum([]byte(witness))
}

// TestForgetReflection: what a model was shown goes with the sessions that spoke in it, whichever way they are forgotten, and with
// what it holds; the rest stays.
func TestForgetReflection(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		o    forget.ForgetOptions
		goes []int
	}{
		"session": {forget.ForgetOptions{}, []int{0, 1}},
		"message": {forget.ForgetOptions{Match: regexp.MustCompile("wombat")}, []int{0, 1}},
		"words":   {forget.ForgetOptions{Match: regexp.MustCompile("quokka")}, []int{2}},
		"value":   {forget.ForgetOptions{Secret: []byte("quokka-4711")}, []int{2}},
	} {
		m := layerstest.NewMemory(t, layerstest.TestOptions())
		dir := t.TempDir()
		layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "s1.jsonl"), layerstest.UserLine(1, "the wombat works")+layerstest.UserLine(2, "plainly")))
		layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "s2.jsonl"), layerstest.UserLine(3, "nothing to hide")))
		one, two := layerstest.RevOf(t, m, "s1"), layerstest.RevOf(t, m, "s2")
		p := one.Project.ID
		witnesses := []objects.Hash{
			reflectOn(t, m, p, "{\"asked\":\"the first session spoke\"}", one.Session.ID),
			reflectOn(t, m, p, "{\"asked\":\"both sessions spoke\"}", one.Session.ID, two.Session.ID),
			reflectOn(t, m, p, "{\"asked\":\"a rule about quokka-4711\"}", two.Session.ID),
			reflectOn(t, m, p, "{\"asked\":\"the second session spoke\"}", two.Session.ID),
		}
		if name == "session" {
			c.o.Revs = []state.Rev{one}
		}
		layerstest.ForgetText(t, m, c.o)
		for i, h := range witnesses {
			_, err := originals.Object(ctx, m.DB, p, h)
			if gone := errors.Is(err, objects.ErrNotFound); gone != slices.Contains(c.goes, i) || err != nil && !gone {
				t.Errorf("%s: witness %d: gone is %v (%v)", name, i, gone, err)
			}
		}
		records, err := m.Upper(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		records = slices.DeleteFunc(records, func(r refs.Record) bool { return r.Kind != permanent.KindReflect })
		if n := len(records); n != len(witnesses)-len(c.goes) {
			t.Errorf("%s: %d reflections stay, want %d", name, n, len(witnesses)-len(c.goes))
		}
		layerstest.Roots(t, m)
	}
}

// TestForgetAside: what a repair put aside and all of the cache go too, and the receipt looks there.
func TestForgetAside(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]forget.ForgetOptions{
		"match":  {Match: regexp.MustCompile("swordfish-4711")},
		"secret": {Secret: []byte("swordfish-4711")},
	} {
		m := layerstest.NewMemory(t, layerstest.TestOptions())
		layerstest.Add(t, m, layerstest.Write(t, filepath.Join(t.TempDir(), "s1.jsonl"), layerstest.UserLine(1, "the code is swordfish-4711")+layerstest.UserLine(2, "more")))
		places := []string{"damaged/memory.git/pack-1.pack", "damaged/spool/note", "cache/looked/" + string(layerstest.RevOf(t, m, "s1").Project.ID) + "/x", "cache/hooks.log", "cache/hooks.json"}
		for _, place := range places {
			file := filepath.Join(m.Refs.Dir(), filepath.FromSlash(place))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("one\nthe code is swordfish-4711\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		proof, err := forget.Prove(context.Background(), m.DB, o, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, place := range places {
			if !slices.ContainsFunc(proof.Left, func(s string) bool { return strings.HasPrefix(s, place) }) {
				t.Errorf("%s: the proof does not see %s: %v", name, place, proof.Left)
			}
		}
		dry := o
		dry.DryRun = true
		for _, with := range []forget.ForgetOptions{dry, o} {
			out := layerstest.ForgetText(t, m, with)
			var aside []string
			for _, x := range out.Things {
				if x.Kind == "damaged file" {
					aside = append(aside, x.Name)
				}
			}
			if !slices.Equal(aside, places[:2]) {
				t.Errorf("%s: dry run %v: damaged files %v", name, with.DryRun, aside)
			}
			for _, place := range places {
				if _, err := os.Lstat(filepath.Join(m.Refs.Dir(), filepath.FromSlash(place))); (err == nil) != with.DryRun {
					t.Errorf("%s: dry run %v: %s: %v", name, with.DryRun, place, err)
				}
			}
		}
		if found := layerstest.Stays(t, "swordfish-4711", []*layers.Memory{m}); len(found) > 0 {
			t.Errorf("%s: it stays in %v", name, found)
		}
	}
}

// TestForgetNameOfFile forgets a value that stands in the name of an overflow file only: what else was cut of the session and of the
// file still comes back.
func TestForgetNameOfFile(t *testing.T) {
	t.Parallel()
	o := layerstest.TestOptions()
	o.Rules = layerstest.ToyRules()
	m := layerstest.NewMemory(t, o)
	dir := t.TempDir()
	text, content := layerstest.UserLine(1, "TOKEN_zzzzzzzz"), "and TOKEN_12345678\n"
	file := layerstest.Write(t, filepath.Join(dir, "quokka-4711.txt"), content).Path
	for range 2 {
		src := layerstest.Write(t, filepath.Join(dir, "s1.jsonl"), text)
		src.Files = []string{file}
		layerstest.Add(t, m, src)
		text += layerstest.UserLine(2, "more")
	}
	p := layerstest.RevOf(t, m, "s1").Project
	if _, err := forget.Forget(t.Context(), m.DB, forget.ForgetOptions{Projects: []state.Project{p}, Secret: []byte("quokka-4711")}); err != nil {
		t.Fatal(err)
	}
	s := layerstest.RevOf(t, m, "s1").Session
	for i := range s.Points {
		var b strings.Builder
		f := s.Points[i].Files[0]
		if err := capture.WriteFile(t.Context(), m.DB, capture.SessionPoint{Project: p.ID, Session: s, Point: &s.Points[i]}, f, &b); err != nil || b.String() != content || strings.Contains(f.Name, "quokka") {
			t.Errorf("growth point %d: file %s is %q, %v; want %q", i, f.Name, b.String(), err, content)
		}
	}
	if c, err := repair.Check(t.Context(), m.DB, true); err != nil || len(c.Problems) > 0 {
		t.Errorf("check: %v, %v", c.Problems, err)
	}
}

// TestForgetLostPatches forgets messages of sessions whose patches were lost with originals.git: what is stored without
// them can still be searched and deleted, and the exact bytes remain reported as missing.
func TestForgetLostPatches(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]forget.ForgetOptions{
		"match":  {Match: regexp.MustCompile("wombat")},
		"secret": {Secret: []byte("wombat-4711")},
		"last":   {Secret: []byte("wombat-4711")}, // only the patches of the last growth point were lost
	} {
		opts := layerstest.TestOptions()
		opts.Rules = layerstest.ToyRules()
		m := layerstest.NewMemory(t, opts)
		dir := t.TempDir()
		file := layerstest.Write(t, filepath.Join(dir, "tool.txt"), "TOKEN_12345678 of the wombat-4711\n").Path
		text := layerstest.UserLine(1, "TOKEN_zzzzzzzz") + layerstest.UserLine(2, "the wombat-4711 works")
		for range 2 {
			src := layerstest.Write(t, filepath.Join(dir, "s1.jsonl"), text)
			src.Files = []string{file}
			layerstest.Add(t, m, src)
			text += layerstest.UserLine(3, "TOKEN_yyyyyyyy")
		}
		was := layerstest.RevOf(t, m, "s1")
		p := was.Project.ID
		if err := m.Refs.RewritePatches(t.Context(), p, func(h objects.Hash) bool {
			return name == "last" && h == was.Session.Points[0].Stamp.Record
		}); err != nil {
			t.Fatal(err)
		}
		layerstest.ForgetText(t, m, o)
		if found := layerstest.Stays(t, "wombat-4711", []*layers.Memory{m}); len(found) > 0 {
			t.Errorf("%s: it stays in %v", name, found)
		}
		rev := layerstest.RevOf(t, m, "s1")
		if now := rev.Session.Now(); !now.Withheld || len(now.Files) > 0 || now.Scan.Values != 3 {
			t.Errorf("%s: the session is %+v", name, now.Snapshot)
		}
		b, err := originals.Object(t.Context(), m.DB, p, rev.Session.Now().Original)
		if err != nil || !strings.Contains(string(b), "‹secret:") {
			t.Errorf("%s: the session is %s, %v", name, b, err)
		}
		var exact strings.Builder
		err = originals.WriteOriginal(t.Context(), m.DB, p, rev.Session, &rev.Session.Points[0], &exact)
		if comes := err == nil && strings.Contains(exact.String(), "TOKEN_zzzzzzzz"); comes != (name == "last") {
			t.Errorf("%s: the first growth point is %s, %v", name, exact.String(), err)
		}
	}
}
