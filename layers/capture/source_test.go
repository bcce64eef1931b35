package capture_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// TestAnyAppends cuts files at random places, in the middle of lines too, and adds after every piece:
// each state of the file can be had back, with rules that cut secrets out and without.
func TestAnyAppends(t *testing.T) {
	t.Parallel()
	layerstest.SkipShort(t)
	for _, rules := range []redact.Rules{{}, layerstest.ToyRules()} {
		rng := mrand.New(mrand.NewPCG(1, 2))
		for round := range layerstest.Rounds(12) {
			o := layerstest.TestOptions()
			o.Rules = rules
			m := layerstest.NewMemory(t, o)
			path := filepath.Join(t.TempDir(), "s1.jsonl")
			var whole strings.Builder
			for i := range 30 {
				fmt.Fprint(&whole, layerstest.UserLine(i, fmt.Sprintf("message %d with TOKEN_%08d and 결제 %d", i, rng.IntN(5), rng.IntN(1000))))
			}
			text := whole.String()
			var want []string
			var project refs.Project
			for at := 0; at < len(text); {
				at = min(len(text), at+400+rng.IntN(2000))
				a := layerstest.Add(t, m, layerstest.Write(t, path, text[:at]))[0]
				project = a.Project.ID
				want = append(want, text[:at])
				if again := layerstest.Add(t, m, capture.SourceOf(path))[0]; again.Change != "unchanged" {
					t.Fatalf("round %d: added twice: %s", round, again.Change)
				}
			}
			got := layerstest.Restored(t, m, project, "s1")
			if len(got) != len(want) {
				t.Fatalf("round %d: %d growth points, want %d", round, len(got), len(want))
			}
			for i := range got {
				if string(got[i]) != want[i] {
					t.Fatalf("round %d, growth point %d: got %d bytes, want %d", round, i, len(got[i]), len(want[i]))
				}
			}
			layerstest.CheckClean(t, m)
			if len(rules.Rules) > 0 {
				layerstest.NoSecret(t, m, project)
			}
		}
	}
}

func TestRewrittenKeepsBoth(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	first := layerstest.UserLine(1, "one") + layerstest.UserLine(2, "two")
	second := layerstest.UserLine(1, "uno") + layerstest.UserLine(2, "dos") + layerstest.UserLine(3, "tres")
	a := layerstest.Add(t, m, layerstest.Write(t, path, first))[0]
	b := layerstest.Add(t, m, layerstest.Write(t, path, second))[0]
	if a.Change != "new" || b.Change != "rewritten" || b.Now.Generation != 1 {
		t.Errorf("changes %s, %s, generation %d", a.Change, b.Change, b.Now.Generation)
	}
	got := layerstest.Restored(t, m, a.Project.ID, "s1")
	if len(got) != 2 || string(got[0]) != first || string(got[1]) != second {
		t.Errorf("restored %q", got)
	}
	layerstest.CheckClean(t, m)
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	dir := t.TempDir()
	good := layerstest.Write(t, filepath.Join(dir, "good.jsonl"), layerstest.UserLine(1, "hello"))
	bad := []capture.Source{
		{Path: dir}, {Path: filepath.Join(dir, "missing.jsonl")},
		layerstest.Write(t, filepath.Join(dir, "empty.jsonl"), ""),
		layerstest.Write(t, filepath.Join(dir, "text.jsonl"), "no transcript\nat all\n"),
		layerstest.Write(t, filepath.Join(dir, "torn.jsonl"), `{"type":"user","mess`),
	}
	for _, src := range bad {
		_, err := capture.Add(context.Background(), m.DB, []capture.Source{src}, capture.AddOptions{})
		if err == nil || !errors.Is(err, state.ErrNotTranscript) && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Add(%s): %v", filepath.Base(src.Path), err)
		}
	}
	added, err := capture.Add(context.Background(), m.DB, append(bad, good), capture.AddOptions{})
	var se *capture.SourceError
	if !errors.As(err, &se) || len(added) != 1 || added[0].Session != "good" {
		t.Errorf("Add(bad and good) = %d added, %v", len(added), err)
	}
	layerstest.CheckClean(t, m)
}

// TestEcho shows that what a fork copied is not typed again: its markers count once.
func TestEcho(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	dir := t.TempDir()
	text := layerstest.UserLine(1, "##keepit1.00## never deploy on friday")
	a := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "parent.jsonl"), text))[0]
	b := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "fork.jsonl"), text+layerstest.UserLine(2, "##keepit0.50## and test first")))[0]
	if len(a.Now.Markers) != 1 || len(b.Now.Markers) != 1 || b.Now.Markers[0].N != 2 || b.Echo != 1 {
		t.Errorf("parent has markers %v; fork has %v and %d echoes", a.Now.Markers, b.Now.Markers, b.Echo)
	}
}

// TestStateCache compares the state from the cache with one built from nothing, after every step.
func TestStateCache(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	dir := t.TempDir()
	text := ""
	for i := range 8 {
		text += layerstest.UserLine(i, fmt.Sprint("text ", i))
		p := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, fmt.Sprintf("s%d.jsonl", i%3)), text))[0].Project.ID
		files := func() (all []byte) {
			all, err := os.ReadFile(m.CachePath("state", string(p)))
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		left := files() // by adding, before anything asked for the state
		cached, err := trust.State(ctx, m.DB, p)
		if err != nil {
			t.Fatal(err)
		}
		if i == 5 { // a damaged cache counts as none
			os.WriteFile(m.CachePath("state", string(p)), []byte("garbage"), 0o600)
		} else {
			os.RemoveAll(m.CachePath("state"))
		}
		fresh, err := trust.State(ctx, m.DB, p)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := fmt.Sprintf("%+v", deref(cached)), fmt.Sprintf("%+v", deref(fresh)); a != b {
			t.Fatalf("step %d: cached\n%s\nfresh\n%s", i, a, b)
		}
		if made := files(); !bytes.Equal(left, made) {
			t.Fatalf("step %d: adding left the cache\n%q\nand from the records it is\n%q", i, left, made)
		}
	}
}

func deref(st *state.State) (out []state.Session) {
	for _, s := range st.Sessions {
		out = append(out, *s)
	}
	return out
}

// TestCopies adds two files of one session again and again: each is stored once, the copy in another directory as a session of its own.
func TestCopies(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	one, two := t.TempDir(), t.TempDir()
	a := layerstest.Write(t, filepath.Join(one, "s1.jsonl"), layerstest.UserLine(1, "one")+layerstest.UserLine(2, "two"))
	b := layerstest.Write(t, filepath.Join(two, "s1.jsonl"), layerstest.UserLine(3, "other"))
	older := layerstest.Write(t, filepath.Join(t.TempDir(), "s1.jsonl"), layerstest.UserLine(1, "one"))
	var changes []string
	for range 3 {
		for _, added := range layerstest.Add(t, m, a, b, older) {
			changes = append(changes, added.Change)
		}
	}
	want := "new new unchanged unchanged unchanged unchanged unchanged unchanged unchanged"
	if got := strings.Join(changes, " "); got != want {
		t.Errorf("changes: %s, want %s", got, want)
	}
	layerstest.CheckClean(t, m)
}

// TestEchoTogether is TestEcho for copies that are captured in one go.
func TestEchoTogether(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	dir := t.TempDir()
	text := layerstest.UserLine(1, "##keepit1.00## never deploy on friday")
	added := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "b-fork.jsonl"), text+layerstest.UserLine(2, "##keepit0.50## and test first")),
		layerstest.Write(t, filepath.Join(dir, "a-parent.jsonl"), text))
	markers := map[string]int{}
	for _, a := range added {
		markers[a.Session] = len(a.Now.Markers)
	}
	if markers["a-parent"] != 1 || markers["b-fork"] != 1 {
		t.Errorf("markers: %v, want one each", markers)
	}
}

// A client writes the first lines of a session before it says where that works.
func TestNoDirectoryYet(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{false, true} {
		m := layerstest.NewMemory(t, layerstest.TestOptions())
		dir := filepath.Join(t.TempDir(), capture.ClientDir("/home/dev/shop"))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if known {
			layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "s0.jsonl"), layerstest.UserLine(1, "hello")))
		}
		head := `{"type":"mode","mode":"normal","sessionId":"s1"}` + "\n"
		src := layerstest.Write(t, filepath.Join(dir, "s1.jsonl"), head)
		if !known {
			src.Cwd = "/home/dev/shop"
		}
		first := layerstest.Add(t, m, src)[0]
		then := layerstest.Add(t, m, layerstest.Write(t, src.Path, head+layerstest.UserLine(1, "hi")))[0]
		if first.Project.ID != then.Project.ID || then.Change != "grown" {
			t.Errorf("known %v: first in %s, then %s in %s", known, first.Project.Name, then.Change, then.Project.Name)
		}
	}
}

// TestDirectoryWithNul adds a session that names no directory next to one whose directory cannot be one.
func TestDirectoryWithNul(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	dir := filepath.Join(t.TempDir(), "-home-dev-shop")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const line = `{"type":"user","uuid":"u%d",%s"message":{"role":"user","content":"Hello %d"}}` + "\n"
	added := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "aaaa1111.jsonl"), fmt.Sprintf(line, 1, `"cwd":"/home/dev\u0000shop",`, 1)),
		layerstest.Write(t, filepath.Join(dir, "bbbb2222.jsonl"), fmt.Sprintf(line, 2, "", 2)))
	for _, a := range added {
		if strings.ContainsRune(a.Project.Name, 0) {
			t.Errorf("%s is in the project %q", a.Session, a.Project.Name)
		}
	}
	paths, err := projects.Paths(t.Context(), m.DB)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		if strings.ContainsRune(p.Path, 0) {
			t.Errorf("%q is the directory of a project", p.Path)
		}
	}
}
