package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/ledger"
	sources "github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
)

// storeV1 is a memory in the format "mem 1" that every later program must read. It was made once, by
// [TestMakeStoreV1], and never changes; a new format gets another store next to it. storeV1Facts lists
// its content.
const (
	storeV1      = "../../testdata/store/v1"
	storeV1Facts = "../../testdata/store/v1.txt"
)

// TestStoreV1 reads all of the store, as a clone of the repository has it: without empty directories.
func TestStoreV1(t *testing.T) {
	t.Parallel()
	dir := copyStoreV1(t)
	m, err := layers.Open(dir, state.Options{Now: time.Now, LockTimeout: time.Second, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	got := recordsOf(t, m)
	if _, err := os.Stat(storeV1Facts); *update && os.IsNotExist(err) {
		if err := os.WriteFile(storeV1Facts, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(storeV1Facts)
	if err != nil {
		t.Fatal(err)
	}
	compareLines(t, got, string(want))
	if got := recordsOf(t, m); got != string(want) {
		t.Error("with a warm cache the store reads differently")
	}
}

// TestStoreV1Command checks the store with the program itself.
func TestStoreV1Command(t *testing.T) {
	t.Parallel()
	dir := copyStoreV1(t)
	var out, errs bytes.Buffer
	env := testEnv(t, dir, &out, &errs)
	if code := run(t.Context(), env, []string{"fsck", "--full"}); code != app.ExitDone {
		t.Errorf("mem fsck --full: exit status %d\n%s%s", code, &out, &errs)
	}
}

// TestStoreV1Write adds a session to the store, which the format must allow for ever too.
func TestStoreV1Write(t *testing.T) {
	t.Parallel()
	dir := copyStoreV1(t)
	var out, errs bytes.Buffer
	env := testEnv(t, dir, &out, &errs)
	file := filepath.Join(t.TempDir(), "0c3f8f7e-52a1-4f0b-8a0e-6f6b4f0c9a11.jsonl")
	if err := os.WriteFile(file, []byte(`{"type":"user","message":{"role":"user","content":"hello"},"cwd":"/home/dev/shop"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"add", file}, {"fsck", "--full"}} {
		if code := run(t.Context(), env, args); code != app.ExitDone {
			t.Fatalf("mem %s: exit status %d\n%s%s", args[0], code, &out, &errs)
		}
	}
}

// TestStoreV1Git lets plain git check the store.
func TestStoreV1Git(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git")
	}
	dir := copyStoreV1(t)
	for _, name := range []string{"memory.git", "originals.git"} {
		out, err := exec.CommandContext(t.Context(), "git", "-C", filepath.Join(dir, name), "fsck", "--strict", "--no-dangling").CombinedOutput()
		if err != nil || strings.Contains(string(out), "error") {
			t.Errorf("git fsck of %s: %v\n%s", name, err, out)
		}
	}
}

// testEnv is the world of a run on a store, with a home of its own and a fixed time.
func testEnv(t *testing.T, store string, stdout, stderr io.Writer) app.Env {
	t.Helper()
	home := t.TempDir()
	vars := map[string]string{"HOME": home, "USERPROFILE": home, "MEM_DIR": store, "MEM_NOW": "2026-06-01T12:00:00Z",
		"MEM_PAGER": "cat"} // a pager would write to stderr while the test does
	env := app.OsEnv()
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(""), stdout, stderr
	env.Dir, env.Getenv = home, func(name string) string { return vars[name] }
	env.Term = app.Term{Width: func() int { return 0 }}
	return env
}

func copyStoreV1(t *testing.T) string {
	t.Helper()
	return copyStore(t, storeV1)
}

// copyStore copies the files of a store, private as a store must be.
func copyStore(t *testing.T, from string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		return os.WriteFile(to, b, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// compareLines tells which facts are gone or new.
func compareLines(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for _, l := range w {
		if !slices.Contains(g, l) {
			t.Errorf("not in the store any more: %s", l)
		}
	}
	for _, l := range g {
		if !slices.Contains(w, l) {
			t.Errorf("new in the store: %s", l)
		}
	}
	if !t.Failed() {
		t.Error("the facts are in another order")
	}
}

// recordsOf lists the content of a store: problems, roots, every growth point with the hash of
// its exact bytes, versions and compositions with their derived data, the log.
func recordsOf(t *testing.T, m *layers.Memory) string {
	t.Helper()
	f := &facting{t: t, m: m, ctx: t.Context()}
	checked, err := repair.Check(f.ctx, m.DB, true)
	f.must(err)
	for _, p := range checked.Problems {
		f.say("problem %s: %s", p.Where, p.What)
	}
	f.say("counts %+v versions %d compositions %d withheld %d", checked.Counts, checked.Versions, checked.Compositions, checked.Withheld)
	for _, r := range checked.Roots {
		f.say("root %s %s %s", r.Project.ID, r.Project.Name, r.Hash)
		f.project(r.Project)
	}
	return f.out.String()
}

type facting struct {
	t   *testing.T
	m   *layers.Memory
	ctx context.Context
	out strings.Builder
}

func (f *facting) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *facting) say(format string, args ...any) { fmt.Fprintf(&f.out, format+"\n", args...) }

// sum returns the name and size of what write writes.
func (f *facting) sum(write func(io.Writer) error) string {
	f.t.Helper()
	var b bytes.Buffer
	f.must(write(&b))
	return fmt.Sprintf("%s %d bytes", objects.Sum(b.Bytes()), b.Len())
}

func (f *facting) project(p state.Project) {
	st, err := trust.State(f.ctx, f.m.DB, p.ID)
	f.must(err)
	for _, s := range st.Sessions {
		f.say("session %s deleted %v markers %d", s.ID, s.Deleted, len(s.Markers()))
		for i := range s.Points {
			f.point(p, s, &s.Points[i])
		}
	}
	for _, v := range st.Versions {
		rev := state.Rev{Kind: state.IsVersion, Project: p, Session: &state.Session{ID: v.Session}, Version: v, Hash: v.Derivation.Output}
		f.say("version %s:%s deleted %v key %s output %s", v.Session, v.Label, v.Deleted, v.Derivation.Key(), v.Derivation.Output)
		f.write(rev, checkout.JSONL, checkout.Markdown)
	}
	for _, c := range st.Compositions {
		f.say("composition %s deleted %v budget %d tokens %d output %s", c.Name, c.Deleted, c.Budget, c.Tokens, c.Derivation.Output)
		rev := state.Rev{Kind: state.IsComposition, Project: p, Composition: c, Hash: c.Derivation.Output}
		f.write(rev, checkout.Markdown, checkout.JSONL)
		text, err := checkout.Composed(f.ctx, f.m.DB, rev)
		f.must(err)
		b, err := text.Manifest(compose.ManifestOptions{CreatedAt: c.Time, OutputFile: "composed.md"})
		f.must(err)
		f.say("  composition.json %s %d bytes", objects.Sum(b), len(b))
	}
	log, err := ledger.Log(f.ctx, f.m.DB, p.ID, 0)
	f.must(err)
	for _, e := range log {
		f.say("log %s %s %d %s %q %q", e.Commit, e.Time.UTC().Format(time.RFC3339), e.Lamport, e.Name, e.Subject, e.Trailers)
	}
}

func (f *facting) point(p state.Project, s *state.Session, at *records.Point) {
	f.say("  point %s generation %d segments %d clean %s %d bytes values %d parent %q echo %d", at.Stamp.Record, at.Generation, at.Segments,
		at.Original, at.Size, at.Scan.Values, at.Parent, len(at.Echo))
	if err := sources.WriteOriginal(f.ctx, f.m.DB, p.ID, s, at, io.Discard); errors.Is(err, sources.ErrWithheld) {
		f.say("    original withheld")
	} else {
		f.say("    original %s", f.sum(func(w io.Writer) error { return sources.WriteOriginal(f.ctx, f.m.DB, p.ID, s, at, w) }))
	}
	for _, file := range at.Files {
		f.say("    file %s %s", file.Name, f.sum(func(w io.Writer) error { return sources.WriteObject(f.ctx, f.m.DB, p.ID, file.Hash, w) }))
	}
}

func (f *facting) write(rev state.Rev, formats ...checkout.Format) {
	for _, form := range formats {
		f.say("  %s %s", form, f.sum(func(w io.Writer) error { return checkout.Write(f.ctx, f.m.DB, rev, form, w) }))
	}
}
