package layers

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	mrand "math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/repair"
)

func testOptions() state.Options {
	return state.Options{
		Now:     func() time.Time { return time.Date(2026, 1, 20, 14, 0, 0, 0, time.UTC) },
		Rand:    rand.Reader,
		Workers: 2,

		LockTimeout: 5 * time.Minute, // on a busy machine some of many writers wait long
	}
}

func newMemory(t testing.TB, o state.Options) *Memory {
	t.Helper()
	m, err := Init(context.Background(), filepath.Join(t.TempDir(), "memory"), "desk", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// toyRules take out words like TOKEN_a1b2c3d4.
func toyRules() redact.Rules {
	re := regexp.MustCompile(`TOKEN_[a-z0-9]{8}`)
	return redact.Rules{ID: "toy", Rules: []redact.Rule{func(v []byte) iter.Seq[redact.Finding] {
		return func(yield func(redact.Finding) bool) {
			for _, at := range re.FindAllIndex(v, -1) {
				if !yield(redact.Finding{Start: at[0], End: at[1], Rule: "toy"}) {
					return
				}
			}
		}
	}}}
}

func userLine(i int, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":"u%d","timestamp":"2026-01-15T10:%02d:00Z","cwd":"/home/dev/shop","sessionId":"s1","message":{"role":"user","content":%q}}`+"\n", i, i%60, text)
}

func write(t testing.TB, path, content string) capture.Source {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return capture.SourceOf(path)
}

func add(t testing.TB, m *Memory, src ...capture.Source) []capture.Added {
	t.Helper()
	added, err := capture.Add(context.Background(), m.DB, src, capture.AddOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return added
}

// restored returns the exact bytes of every growth point of the session, and fails if the store is not clean.
func restored(t testing.TB, m *Memory, p refs.Project, id string) [][]byte {
	t.Helper()
	ctx := context.Background()
	st, err := trust.State(ctx, m.DB, p)
	if err != nil {
		t.Fatal(err)
	}
	s := st.Session(id)
	var out [][]byte
	for i := range s.Points {
		var b bytes.Buffer
		if err := originals.WriteOriginal(ctx, m.DB, p, s, &s.Points[i], &b); err != nil {
			t.Fatalf("growth point %d: %v", i, err)
		}
		out = append(out, b.Bytes())
	}
	return out
}

// TestAnyAppends cuts files at random places, in the middle of lines too, and adds after every piece:
// each state of the file can be had back, with rules that cut secrets out and without.
func TestAnyAppends(t *testing.T) {
	t.Parallel()
	skipShort(t)
	for _, rules := range []redact.Rules{{}, toyRules()} {
		rng := mrand.New(mrand.NewPCG(1, 2))
		for round := range rounds(12) {
			o := testOptions()
			o.Rules = rules
			m := newMemory(t, o)
			path := filepath.Join(t.TempDir(), "s1.jsonl")
			var whole strings.Builder
			for i := range 30 {
				fmt.Fprint(&whole, userLine(i, fmt.Sprintf("message %d with TOKEN_%08d and 결제 %d", i, rng.IntN(5), rng.IntN(1000))))
			}
			text := whole.String()
			var want []string
			var project refs.Project
			for at := 0; at < len(text); {
				at = min(len(text), at+400+rng.IntN(2000))
				a := add(t, m, write(t, path, text[:at]))[0]
				project = a.Project.ID
				want = append(want, text[:at])
				if again := add(t, m, capture.SourceOf(path))[0]; again.Change != "unchanged" {
					t.Fatalf("round %d: added twice: %s", round, again.Change)
				}
			}
			got := restored(t, m, project, "s1")
			if len(got) != len(want) {
				t.Fatalf("round %d: %d growth points, want %d", round, len(got), len(want))
			}
			for i := range got {
				if string(got[i]) != want[i] {
					t.Fatalf("round %d, growth point %d: got %d bytes, want %d", round, i, len(got[i]), len(want[i]))
				}
			}
			checkClean(t, m)
			if len(rules.Rules) > 0 {
				noSecret(t, m, project)
			}
		}
	}
}

func checkClean(t testing.TB, m *Memory) {
	t.Helper()
	if _, err := repair.Check(context.Background(), m.Refs, true, func(p repair.Problem) { t.Errorf("check: %s", p) }); err != nil {
		t.Fatal(err)
	}
}

// noSecret reads all objects and records that could travel.
func noSecret(t *testing.T, m *Memory, p refs.Project) {
	t.Helper()
	ctx := context.Background()
	err := m.Refs.View(ctx, p, func(tx *refs.Tx) error {
		for h, err := range tx.All(ctx) {
			if err != nil {
				return err
			}
			b, err := originals.Object(ctx, m.DB, p, h)
			if err != nil {
				return err
			}
			if bytes.Contains(b, []byte("TOKEN_")) {
				t.Errorf("object %s holds a secret", h.Short())
			}
		}
		records, err := tx.Records(ctx, nil)
		for _, r := range records {
			if bytes.Contains(r.Body, []byte("TOKEN_")) {
				t.Errorf("record %s holds a secret: %s", r.ID.Short(), r.Body)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRewrittenKeepsBoth(t *testing.T) {
	t.Parallel()
	m := newMemory(t, testOptions())
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	first := userLine(1, "one") + userLine(2, "two")
	second := userLine(1, "uno") + userLine(2, "dos") + userLine(3, "tres")
	a := add(t, m, write(t, path, first))[0]
	b := add(t, m, write(t, path, second))[0]
	if a.Change != "new" || b.Change != "rewritten" || b.Now.Generation != 1 {
		t.Errorf("changes %s, %s, generation %d", a.Change, b.Change, b.Now.Generation)
	}
	got := restored(t, m, a.Project.ID, "s1")
	if len(got) != 2 || string(got[0]) != first || string(got[1]) != second {
		t.Errorf("restored %q", got)
	}
	checkClean(t, m)
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	m := newMemory(t, testOptions())
	dir := t.TempDir()
	good := write(t, filepath.Join(dir, "good.jsonl"), userLine(1, "hello"))
	bad := []capture.Source{
		{Path: dir}, {Path: filepath.Join(dir, "missing.jsonl")},
		write(t, filepath.Join(dir, "empty.jsonl"), ""),
		write(t, filepath.Join(dir, "text.jsonl"), "no transcript\nat all\n"),
		write(t, filepath.Join(dir, "torn.jsonl"), `{"type":"user","mess`),
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
	checkClean(t, m)
}

// TestEcho shows that what a fork copied is not typed again: its markers count once.
func TestEcho(t *testing.T) {
	t.Parallel()
	m := newMemory(t, testOptions())
	dir := t.TempDir()
	text := userLine(1, "##keepit1.00## never deploy on friday")
	a := add(t, m, write(t, filepath.Join(dir, "parent.jsonl"), text))[0]
	b := add(t, m, write(t, filepath.Join(dir, "fork.jsonl"), text+userLine(2, "##keepit0.50## and test first")))[0]
	if len(a.Now.Markers) != 1 || len(b.Now.Markers) != 1 || b.Now.Markers[0].N != 2 || b.Echo != 1 {
		t.Errorf("parent has markers %v; fork has %v and %d echoes", a.Now.Markers, b.Now.Markers, b.Echo)
	}
}

// TestStateCache compares the state from the cache with one built from nothing, after every step.
func TestStateCache(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m := newMemory(t, testOptions())
	dir := t.TempDir()
	text := ""
	for i := range 8 {
		text += userLine(i, fmt.Sprint("text ", i))
		p := add(t, m, write(t, filepath.Join(dir, fmt.Sprintf("s%d.jsonl", i%3)), text))[0].Project.ID
		files := func() (all []byte) {
			for _, name := range []string{"state", "bulk"} {
				b, err := os.ReadFile(m.CachePath(name, string(p)))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, b...)
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
			os.RemoveAll(m.CachePath("bulk"))
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
	m := newMemory(t, testOptions())
	one, two := t.TempDir(), t.TempDir()
	a := write(t, filepath.Join(one, "s1.jsonl"), userLine(1, "one")+userLine(2, "two"))
	b := write(t, filepath.Join(two, "s1.jsonl"), userLine(3, "other"))
	older := write(t, filepath.Join(t.TempDir(), "s1.jsonl"), userLine(1, "one"))
	var changes []string
	for range 3 {
		for _, added := range add(t, m, a, b, older) {
			changes = append(changes, added.Change)
		}
	}
	want := "new new unchanged unchanged unchanged unchanged unchanged unchanged unchanged"
	if got := strings.Join(changes, " "); got != want {
		t.Errorf("changes: %s, want %s", got, want)
	}
	checkClean(t, m)
}

// TestEchoTogether is TestEcho for copies that are captured in one go.
func TestEchoTogether(t *testing.T) {
	t.Parallel()
	m := newMemory(t, testOptions())
	dir := t.TempDir()
	text := userLine(1, "##keepit1.00## never deploy on friday")
	added := add(t, m, write(t, filepath.Join(dir, "b-fork.jsonl"), text+userLine(2, "##keepit0.50## and test first")),
		write(t, filepath.Join(dir, "a-parent.jsonl"), text))
	markers := map[string]int{}
	for _, a := range added {
		markers[a.Session] = len(a.Now.Markers)
	}
	if markers["a-parent"] != 1 || markers["b-fork"] != 1 {
		t.Errorf("markers: %v, want one each", markers)
	}
}

// rounds is how often a test repeats itself: less where it is slow, as under the race detector.
func rounds(full int) int {
	if testing.Short() {
		return max(1, full/6)
	}
	return full
}

// skipShort leaves out a test that is slow under the race detector and in which nothing runs side by side that other tests
// do not have, too.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED in short mode: it is slow under the race detector, and has nothing to show it")
	}
}

// A client writes the first lines of a session before it says where that works.
func TestNoDirectoryYet(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{false, true} {
		m := newMemory(t, testOptions())
		dir := filepath.Join(t.TempDir(), capture.ClientDir("/home/dev/shop"))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if known {
			add(t, m, write(t, filepath.Join(dir, "s0.jsonl"), userLine(1, "hello")))
		}
		head := `{"type":"mode","mode":"normal","sessionId":"s1"}` + "\n"
		src := write(t, filepath.Join(dir, "s1.jsonl"), head)
		if !known {
			src.Cwd = "/home/dev/shop"
		}
		first := add(t, m, src)[0]
		then := add(t, m, write(t, src.Path, head+userLine(1, "hi")))[0]
		if first.Project.ID != then.Project.ID || then.Change != "grown" {
			t.Errorf("known %v: first in %s, then %s in %s", known, first.Project.Name, then.Change, then.Project.Name)
		}
	}
}

// TestDirectoryWithNul adds a session that names no directory next to one whose directory cannot be one.
func TestDirectoryWithNul(t *testing.T) {
	t.Parallel()
	m := newMemory(t, testOptions())
	dir := filepath.Join(t.TempDir(), "-home-dev-shop")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const line = `{"type":"user","uuid":"u%d",%s"message":{"role":"user","content":"Hello %d"}}` + "\n"
	added := add(t, m, write(t, filepath.Join(dir, "aaaa1111.jsonl"), fmt.Sprintf(line, 1, `"cwd":"/home/dev\u0000shop",`, 1)),
		write(t, filepath.Join(dir, "bbbb2222.jsonl"), fmt.Sprintf(line, 2, "", 2)))
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
