package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers"
	capturing "github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/history"
	sources "github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/secrets"
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
	projects, err := trust.Projects(f.ctx, m.DB)
	f.must(err)
	for _, r := range checked.Roots {
		f.say("root %s %s %s", r.Project, r.Name, r.Hash)
		f.project(projects[slices.IndexFunc(projects, func(p state.Project) bool { return p.ID == r.Project })])
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
	log, err := history.Log(f.ctx, f.m.DB, p.ID, 0)
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

// TestMakeStoreV1 makes the store of the format "mem 1" if there is none and -update is given: from
// testdata/transcripts, with a clock and a source of randomness that are the same in every run. It never
// touches a store that is there.
func TestMakeStoreV1(t *testing.T) {
	if _, err := os.Stat(storeV1); !*update || err == nil {
		t.Skip("the store of the format mem 1 was made once and stays as it is")
	}
	store, err := filepath.Abs(storeV1)
	must(t, err)
	sample, err := filepath.Abs(filepath.Join("..", "..", "testdata", "transcripts"))
	must(t, err)
	t.Chdir(t.TempDir()) // so that no path of this machine gets into the store
	s := &storeMaker{
		t: t, store: store, name: "desk", sample: filepath.Join(sample, "projects"),
		now: time.Date(2026, 1, 20, 14, 0, 0, 0, time.UTC), random: rand.NewChaCha8([32]byte([]byte("the store of the format mem 1..."))),
	}
	s.fill()
	for _, leftover := range []string{"cache", "spool", "init.lock", "memory.git/mem", "originals.git/mem"} {
		must(t, os.RemoveAll(filepath.Join(store, leftover)))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A storeMaker makes a store, an hour a step.
type storeMaker struct {
	t             *testing.T
	store, sample string
	name          string // of the device
	now           time.Time
	random        io.Reader
	m             *layers.Memory
	shop          state.Project
}

// The sessions that the store grows from, as files below the projects directory.
const (
	grows   = "-home-dev-shop/6ecd8c99-4036-403d-bf84-cf8400f67836.jsonl"
	agents  = "-home-dev-shop/9b2cf535-f27b-4a3e-8d5b-64b0e3f0a1d2.jsonl"
	rewrite = "-home-dev-shop/2c5ea4c0-4067-41e9-8bad-9b1deb4d3b7d.jsonl"
	torn    = "-home-dev-shop/7d444840-9dc0-41d1-b245-5ffdce74fad2.jsonl"
	removed = "-home-dev-shop/1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed.jsonl"
	secret  = "-home-dev-shop/5e7ec0de-1111-4222-8333-444455556666.jsonl"

	elsewhere = "-home-dev-shop/0e15e0e1-aaaa-4bbb-8ccc-ddddeeeeffff.jsonl"
)

func (s *storeMaker) fill() {
	s.open(redact.Rules{})
	s.growing()
	s.add(s.file(rewrite, func(b string) string { return b }))
	s.add(s.file(rewrite, func(b string) string { _, rest, _ := strings.Cut(b, "\n"); return rest }))
	s.add(s.everything()...)
	s.withSecrets()
	s.otherDevice()
	s.derive()
}

// open opens the memory, which the first time makes it.
func (s *storeMaker) open(rules redact.Rules) {
	if s.m != nil {
		must(s.t, s.m.Close())
	}
	o := state.Options{Now: func() time.Time { return s.now }, Rand: s.random, Workers: 1, Rules: rules}
	var err error
	s.m, err = layers.Init(s.t.Context(), s.store, s.name, o)
	must(s.t, err)
}

// growing adds a session as it grows: with a torn record at its end, twice the same, and whole at last.
func (s *storeMaker) growing() {
	cut := func(lines, more int) func(string) string {
		return func(b string) string {
			n := 0
			for range lines {
				n += strings.IndexByte(b[n:], '\n') + 1
			}
			return b[:n+more]
		}
	}
	for _, c := range [][2]int{{40, 0}, {90, 55}, {90, 70}, {120, 0}, {193, 0}} {
		s.add(s.file(grows, cut(c[0], c[1])))
	}
}

// file writes a file of the sample, changed, where the store takes it from.
func (s *storeMaker) file(name string, change func(string) string) capturing.Source {
	b, err := os.ReadFile(filepath.Join(s.sample, filepath.FromSlash(name)))
	must(s.t, err)
	return s.write(name, change(string(b)))
}

func (s *storeMaker) write(name, content string) capturing.Source {
	path := filepath.Join("projects", filepath.FromSlash(name))
	must(s.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(s.t, os.WriteFile(path, []byte(content), 0o600))
	return capturing.SourceOf(path)
}

// everything returns all files of the sample: subagents and overflow files belong to their session.
func (s *storeMaker) everything() []capturing.Source {
	must(s.t, os.CopyFS("all/projects", os.DirFS(s.sample)))
	must(s.t, os.Remove(filepath.Join("all/projects", filepath.FromSlash(rewrite)))) // its first line is gone
	sources, err := capturing.Sources("all")
	must(s.t, err)
	return sources
}

func (s *storeMaker) add(sources ...capturing.Source) {
	s.now = s.now.Add(time.Hour)
	added, err := capturing.Add(s.t.Context(), s.m.DB, sources, capturing.AddOptions{})
	must(s.t, err)
	s.shop = added[0].Project
	for _, a := range added {
		if a.Project.Name == "shop" {
			s.shop = a.Project
		}
	}
}

// withSecrets adds a session with a rule that takes words out, at three points of its growth. Later
// programs read it without the rule.
func (s *storeMaker) withSecrets() {
	word := regexp.MustCompile(`TOKEN_[a-z0-9]{8}`)
	s.open(redact.Rules{ID: "words 1", Rules: []redact.Rule{func(b []byte) iter.Seq[redact.Finding] {
		return func(yield func(redact.Finding) bool) {
			for _, at := range word.FindAllIndex(b, -1) {
				if !yield(redact.Finding{Start: at[0], End: at[1], Rule: "word"}) {
					return
				}
			}
		}
	}}})
	var lines []string
	for i, text := range []string{"use TOKEN_aaaa1111 for the test", "TOKEN_bbbb2222 and TOKEN_aaaa1111 again", "no word here", "last: TOKEN_cccc3333"} {
		lines = append(lines, userRecord(id(secret), i, text))
	}
	whole := strings.Join(lines, "")
	s.add(s.write(secret, lines[0]+lines[1][:len(lines[1])-20]))
	s.add(s.write(secret, lines[0]+lines[1]+lines[2]))
	s.add(s.write(secret, whole[:len(whole)-4]))
	s.add(s.write(secret, whole))
	s.open(redact.Rules{})
}

func userRecord(session string, i int, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":"s%d","timestamp":"2026-01-19T09:0%d:00.000Z","cwd":"/home/dev/shop","sessionId":%q,"message":{"role":"user","content":%q}}`+"\n", i, i, session, text)
}

// otherDevice adds the lane of another device to the store, as a pull does: the data of its originals.git
// stays there.
func (s *storeMaker) otherDevice() {
	must(s.t, s.m.Close())
	desk, m := s.store, s.m
	s.store, s.name, s.m = "laptop", "laptop", nil
	s.open(redact.Rules{})
	s.add(s.write(elsewhere, userRecord(id(elsewhere), 0, "on the laptop ##keepit0.90## this stays ##/keepit##")+`{"type":"user","torn`))
	s.compress(elsewhere, planning.Settings{Tokens: 100})
	must(s.t, s.m.Close())
	for _, pattern := range []string{"objects/pack/*", "refs/heads/p/*/*"} {
		files, err := filepath.Glob(filepath.Join("laptop/memory.git", pattern))
		must(s.t, err)
		for _, file := range files {
			rel, err := filepath.Rel("laptop", file)
			must(s.t, err)
			b, err := os.ReadFile(file)
			must(s.t, err)
			must(s.t, os.MkdirAll(filepath.Join(desk, filepath.Dir(rel)), 0o700))
			must(s.t, os.WriteFile(filepath.Join(desk, rel), b, 0o400))
		}
	}
	s.store, s.name, s.m = desk, "desk", m
	s.open(redact.Rules{})
}

// derive makes versions and compositions, and takes some things out of the lists.
func (s *storeMaker) derive() {
	s.compress(grows, planning.Settings{Ratio: 10})
	s.compress(grows, planning.Settings{Preset: "standard"})
	s.compress(grows, planning.Settings{Tokens: 1500, Keepit: planning.PreserveAll})
	s.compress(agents, planning.Settings{Tiers: []planning.Tier{{End: 50, Ratio: 20}, {End: 100, Ratio: 4}}, Skip: 2})
	s.compress(removed, planning.Settings{Ratio: 3})
	s.compose("shop-context", 4000, "recency", grows, agents)
	s.compose("shop-context", 6000, "equal", grows, agents, rewrite)
	s.compose("given-up", 3000, "proportional", agents)
	for _, rev := range []string{id(removed), id(grows) + ":v001", "given-up"} {
		s.now = s.now.Add(time.Hour)
		must(s.t, derive.Remove(s.t.Context(), s.m.DB, s.rev(rev), false, false))
	}
	must(s.t, s.m.Close())
}

func id(file string) string { return strings.TrimSuffix(filepath.Base(file), ".jsonl") }

func (s *storeMaker) rev(name string) state.Rev {
	rev, err := revision.Resolve(s.t.Context(), s.m.DB, state.Scope{Project: s.shop}, name)
	must(s.t, err)
	return rev
}

func (s *storeMaker) compress(file string, settings planning.Settings) {
	s.now = s.now.Add(time.Hour)
	_, err := derive.Compress(s.t.Context(), s.m.DB, s.rev(id(file)), settings, false)
	must(s.t, err)
}

func (s *storeMaker) compose(name string, budget int, strategy string, files ...string) {
	s.now = s.now.Add(time.Hour)
	how, err := compose.ParseStrategy(strategy)
	must(s.t, err)
	req := derive.ComposeRequest{Project: s.shop, Name: name, Budget: budget, Strategy: how}
	for _, file := range files {
		req.Parts = append(req.Parts, derive.ComposePart{Rev: s.rev(id(file))})
	}
	_, err = derive.Compose(s.t.Context(), s.m.DB, req)
	must(s.t, err)
}

// wordRules take words for secrets that stand in the sessions, titles and versions of the store.
func wordRules() redact.Rules {
	word := regexp.MustCompile(`Prices|again`)
	return redact.Rules{ID: "words 2", Rules: []redact.Rule{func(b []byte) iter.Seq[redact.Finding] {
		return func(yield func(redact.Finding) bool) {
			for _, at := range word.FindAllIndex(b, -1) {
				if !yield(redact.Finding{Start: at[0], End: at[1], Rule: "word"}) {
					return
				}
			}
		}
	}}}
}

// originals returns the exact bytes of every growth point of every session that this device has, in the order of records.
func originals(t *testing.T, m *layers.Memory) (out [][]byte) {
	t.Helper()
	ctx := context.Background()
	projects, err := trust.Projects(ctx, m.DB)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range projects {
		st, err := trust.State(ctx, m.DB, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range st.Sessions {
			for i := range s.Points {
				var b bytes.Buffer
				if err := sources.WriteOriginal(ctx, m.DB, p.ID, s, &s.Points[i], &b); err != nil && !errors.Is(err, sources.ErrWithheld) {
					t.Fatal(err)
				}
				out = append(out, b.Bytes())
			}
		}
	}
	return out
}

// TestStoreV1Clean removes secrets from a store that was written before there were rules, as its first push does: the lanes
// start again without them, the store is valid, and every exact byte can still be restored.
func TestStoreV1Clean(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := copyStoreV1(t)
	now := func() time.Time { return time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC) }
	m, err := layers.Open(dir, state.Options{Now: now, Rand: bytes.NewReader(make([]byte, 1<<16)), LockTimeout: time.Second, Workers: 2, Rules: wordRules()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	want := originals(t, m)
	projects, err := trust.Projects(ctx, m.DB)
	if err != nil {
		t.Fatal(err)
	}
	cleaned := 0
	for _, p := range projects {
		done, err := forget.CleanLane(ctx, m.DB, p.ID)
		if err != nil {
			t.Fatalf("clean %s: %v", p.Name, err)
		}
		cleaned += done.Sessions
		leaks, err := secrets.ScanOutgoing(ctx, m.DB, p.ID, func(string) bool { return false })
		if err != nil || len(leaks) > 0 {
			t.Errorf("%s: leaks %v, %v", p.Name, leaks, err)
		}
	}
	if cleaned == 0 {
		t.Error("no session was cleaned")
	}
	c, err := repair.Check(ctx, m.DB, true)
	if err != nil || len(c.Problems) > 0 {
		t.Errorf("check: %v, %v", c.Problems, err)
	}
	got := originals(t, m)
	if len(got) != len(want) {
		t.Fatalf("%d growth points, want %d", len(got), len(want))
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("growth point %d has other bytes", i)
		}
	}
}

// TestRestoreWithoutMem runs the script of docs/formats.md, which knows nothing of this program, on the
// sessions of the store of the format "mem 1": with growth, torn ends, cuts, several generations.
func TestRestoreWithoutMem(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"sh", "git", "zstd", "b3sum", "od", "awk"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: restoring without mem needs %s", tool)
		}
	}
	script := filepath.Join(t.TempDir(), "restore.sh")
	must(t, os.WriteFile(script, []byte(fenced(t, filepath.Join("..", "..", "docs", "formats.md"), "sh")[0]), 0o600))
	dir := copyStoreV1(t)
	m, err := layers.Open(dir, state.Options{Now: time.Now})
	must(t, err)
	defer m.Close()
	projects, err := trust.Projects(t.Context(), m.DB)
	must(t, err)
	restored, growths := 0, 0
	for _, p := range projects {
		st, err := trust.State(t.Context(), m.DB, p.ID)
		must(t, err)
		for _, s := range st.Sessions {
			var want bytes.Buffer
			err := sources.WriteOriginal(t.Context(), m.DB, p.ID, s, s.Now(), &want)
			withheld := errors.Is(err, sources.ErrWithheld)
			var got, errs bytes.Buffer
			cmd := exec.CommandContext(t.Context(), "sh", script, dir, s.ID)
			cmd.Stdout, cmd.Stderr = &got, &errs
			cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C")
			switch ran := cmd.Run(); {
			case withheld && ran == nil:
				t.Errorf("%s: restored although its patch is on another device", s.ID)
			case !withheld && (ran != nil || !bytes.Equal(got.Bytes(), want.Bytes())):
				t.Errorf("%s: %v, %d bytes, want %d\n%s", s.ID, ran, got.Len(), want.Len(), &errs)
			case !withheld:
				restored++
				growths = max(growths, s.Now().Segments)
			}
		}
	}
	if restored < 9 || growths < 3 {
		t.Errorf("%d sessions restored, of at most %d segments", restored, growths)
	}
}

// fenced returns the blocks of a language in a page.
func fenced(t *testing.T, page, language string) []string {
	t.Helper()
	b, err := os.ReadFile(page)
	must(t, err)
	var blocks []string
	for _, rest := range strings.Split("\n"+string(b), "\n```"+language+"\n")[1:] {
		block, _, ok := strings.Cut(rest, "\n```")
		if !ok {
			t.Fatalf("%s: a block does not end", page)
		}
		blocks = append(blocks, block+"\n")
	}
	if len(blocks) == 0 {
		t.Fatalf("%s: no block of %s", page, language)
	}
	return blocks
}
