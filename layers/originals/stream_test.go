package originals_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/testdata/gen/plants"
)

// largeMemory is a memory in which files of 100 bytes are large.
func largeMemory(t testing.TB, h *layerstest.Hub, device string) *layers.Memory {
	m := h.Memory(t, device)
	m.Opts.LargeFile, m.Opts.Rules = 100, layerstest.ToyRules()
	return m
}

// sessionWith writes a session of some messages whose tool results are files.
func sessionWith(t testing.TB, dir, id string, messages int, files map[string]string) capture.Source {
	t.Helper()
	results := filepath.Join(dir, id, "tool-results")
	if err := os.MkdirAll(results, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		layerstest.Write(t, filepath.Join(results, name), text)
	}
	var b strings.Builder
	for i := range messages {
		b.WriteString(layerstest.UserLine(i, "message "+id))
	}
	return layerstest.Write(t, filepath.Join(dir, id+".jsonl"), b.String())
}

// filesOf returns the exact bytes of the files of a session at each of its growth points.
func filesOf(t testing.TB, m *layers.Memory, p refs.Project, id string) (out []map[string]string) {
	t.Helper()
	st, err := trust.State(context.Background(), m.DB, p)
	if err != nil {
		t.Fatal(err)
	}
	s := st.Session(id)
	for i := range s.Points {
		files := map[string]string{}
		for _, f := range s.Points[i].Files {
			var b bytes.Buffer
			if err := capture.WriteFile(context.Background(), m.DB, capture.SessionPoint{Project: p, Session: s, Point: &s.Points[i]}, f, &b); err != nil {
				t.Fatalf("growth point %d, %s: %v", i, f.Name, err)
			}
			files[f.Name] = b.String()
		}
		out = append(out, files)
	}
	return out
}

// longIn counts the objects of a project that are streams of their own.
func longIn(t testing.TB, m *layers.Memory, p refs.Project) (n int) {
	t.Helper()
	err := m.Refs.View(context.Background(), p, func(tx *refs.Tx) error {
		for h, err := range tx.All(context.Background()) {
			if err != nil {
				return err
			}
			k, err := tx.Segments(stream.Whole(h))
			if err != nil {
				return err
			}
			n += min(k, 1)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// randomFile makes a file about the size from which on files are large, some with secrets, some without line ends, some binary.
func randomFile(rng *rand.Rand) string {
	var b strings.Builder
	for n := rng.IntN(300); b.Len() < n; {
		switch rng.IntN(5) {
		case 0:
			fmt.Fprintf(&b, "TOKEN_%08x", rng.Uint32())
		case 1:
			b.WriteByte(byte(rng.UintN(256)))
		case 2:
			b.WriteString("\n")
		case 3:
			fmt.Fprintf(&b, "{\"a\":[1,%q]}\n", strings.Repeat("결", rng.IntN(30)))
		default:
			b.WriteString(strings.Repeat("line of words ", rng.IntN(9)))
		}
	}
	return b.String()
}

// TestLargeFiles captures random files around the size from which on they are stored in pieces, as they come, change and come back: they
// are exact at every growth point, nothing of their secrets travels, and what travels is the same elsewhere.
func TestLargeFiles(t *testing.T) {
	t.Parallel()
	layerstest.SkipShort(t)
	rng := rand.New(rand.NewPCG(41, 42))
	h := layerstest.NewHub(t, "directory")
	a, b := largeMemory(t, h, "laptop"), largeMemory(t, h, "desk")
	dir := t.TempDir()
	long := strings.Repeat(strings.Repeat("0123456789 and so on\n", 30_000)+"TOKEN_zzzzzzzz\n", 7)
	files := map[string]string{"long.txt": long + long[:stream.MaxSegment+1<<20-len(long)]}
	var states []map[string]string
	var p state.Project
	for step := range 8 {
		for range rng.IntN(4) {
			files[fmt.Sprintf("f%d", rng.IntN(5))] = randomFile(rng)
		}
		if step%3 == 2 {
			files["was.txt"] = states[0]["long.txt"]
		}
		now := map[string]string{}
		for name, text := range files {
			now[name] = text
		}
		got := layerstest.Add(t, a, sessionWith(t, dir, "s1", 1+step, files))[0]
		if states, p = append(states, now), got.Project; got.Change == "unchanged" {
			t.Fatal("a new message is no change")
		}
		if again := layerstest.Add(t, a, capture.SourceOf(filepath.Join(dir, "s1.jsonl")))[0]; again.Change != "unchanged" {
			t.Fatalf("step %d: captured again it is %s", step, again.Change)
		}
	}
	got := filesOf(t, a, p.ID, "s1")
	for i, want := range states {
		for name, text := range want {
			if got[i][name] != text {
				t.Errorf("growth point %d, %s: %d bytes, want %d", i, name, len(got[i][name]), len(text))
			}
		}
	}
	if longIn(t, a, p.ID) == 0 {
		t.Error("no file is stored in pieces")
	}
	layerstest.NoSecret(t, a, p.ID)
	layerstest.PushAll(t, a)
	layerstest.FetchAll(t, b)
	b = layerstest.Reopen(t, b)
	if x, y := layerstest.Roots(t, a), layerstest.Roots(t, b); x != y {
		t.Errorf("roots %s and %s", x, y)
	}
	layerstest.NoSecret(t, b, p.ID)
}

// TestLargeFileForgotten forgets by a value, by an expression and by the session what stands in files that are stored in pieces, here and
// on another device. What does not hold it stays, and it is not taken in again.
func TestLargeFileForgotten(t *testing.T) {
	t.Parallel()
	layerstest.SkipShort(t)
	h := layerstest.NewHub(t, "directory")
	a, b := largeMemory(t, h, "laptop"), largeMemory(t, h, "desk")
	filler := strings.Repeat("filler of a long file\n", 30)
	files := map[string]string{"a": filler + "the orchard code\n" + filler, "b": filler + "plain\n", "c": filler + "plum 4711\n", "d": "TOKEN_12345678 orchard code" + filler}
	dir := t.TempDir()
	one, two := sessionWith(t, dir, "s1", 2, files), sessionWith(t, dir, "s2", 2, map[string]string{"b": files["b"], "e": filler + "only in two\n"})
	p := layerstest.Add(t, a, one, two)[0].Project
	layerstest.PushAll(t, a)
	layerstest.FetchAll(t, b)
	layerstest.ForgetText(t, a, forget.ForgetOptions{Secret: []byte("orchard code")})
	layerstest.ForgetText(t, a, forget.ForgetOptions{Match: regexp.MustCompile(`plum \d+`)})
	if got := filesOf(t, a, p.ID, "s1"); len(got[0]) != 1 || got[0]["b"] != files["b"] {
		t.Errorf("left: %d files", len(got[0]))
	}
	for _, text := range []string{"orchard code", "plum 4711", "TOKEN_12345678"} {
		if found := layerstest.Stays(t, text, []*layers.Memory{a}); len(found) > 0 {
			t.Errorf("%q is in %v", text, found)
		}
	}
	if got := layerstest.Add(t, a, one, two); got[0].Files > 1 || got[1].Change != "unchanged" { // a match is no value: the file d was both
		t.Errorf("captured again: %+v", got)
	}
	layerstest.ForgetText(t, a, forget.ForgetOptions{Revs: []state.Rev{layerstest.RevOf(t, a, "s2")}})
	if found := layerstest.Stays(t, "only in two", []*layers.Memory{a}); len(found) > 0 {
		t.Errorf("the file of a session that was forgotten is in %v", found)
	}
	if got := filesOf(t, a, p.ID, "s1"); got[len(got)-1]["b"] != files["b"] {
		t.Error("a file went with a copy of it")
	}
	layerstest.PushAll(t, a)
	layerstest.FetchAll(t, b)
	b = layerstest.Reopen(t, b)
	if x, y := layerstest.Roots(t, a), layerstest.Roots(t, b); x != y {
		t.Errorf("roots %s and %s", x, y)
	}
	layerstest.GitRun(t, h.Dir, "fsck", "--full", "--strict")
}

// TestSameContent captures copies: a session twice, and as a file of another. The lane arrives elsewhere, and what
// is forgotten takes no copy with it.
func TestSameContent(t *testing.T) {
	t.Parallel()
	for i, gone := range [][]string{{"s1", "s2"}, {"s2", "s1"}, {"s3", "s1"}, {"s1", "s3"}} {
		t.Run(strings.Join(gone, " "), func(t *testing.T) {
			t.Parallel()
			h := layerstest.NewHub(t, "directory")
			a, b := largeMemory(t, h, "laptop"), largeMemory(t, h, "desk")
			if i%2 == 1 {
				a.Opts.LargeFile = 1 << 20 // the copy that is a file is a blob
			}
			dir := t.TempDir()
			one := sessionWith(t, dir, "s1", 3, nil)
			text, err := os.ReadFile(one.Path)
			if err != nil {
				t.Fatal(err)
			}
			p := layerstest.Add(t, a, one)[0].Project
			layerstest.PushAll(t, a)
			layerstest.Add(t, a, layerstest.Write(t, filepath.Join(dir, "s2.jsonl"), string(text)))
			layerstest.Add(t, a, sessionWith(t, dir, "s3", 1, map[string]string{"copy.jsonl": string(text)}))
			layerstest.PushAll(t, a)
			layerstest.FetchAll(t, b)
			if x, y := layerstest.Roots(t, a), layerstest.Roots(t, b); x != y {
				t.Fatalf("roots %s and %s", x, y)
			}
			left := []string{"s1", "s2", "s3"}
			for _, id := range gone {
				layerstest.ForgetText(t, a, forget.ForgetOptions{Revs: []state.Rev{layerstest.RevOf(t, a, id)}})
				left = slices.DeleteFunc(left, func(s string) bool { return s == id })
				for _, id := range left {
					want := string(text)
					if id == "s3" {
						if got := filesOf(t, a, p.ID, id)[0]["copy.jsonl"]; got != want {
							t.Errorf("without %s: the copy is %d bytes, want %d", gone, len(got), len(want))
						}
						continue
					}
					if got := layerstest.Restored(t, a, p.ID, id); string(got[len(got)-1]) != want {
						t.Errorf("without %s: %s is %q", gone, id, got)
					}
				}
				layerstest.Roots(t, a)
			}
			layerstest.PushAll(t, a)
			layerstest.FetchAll(t, b)
		})
	}
}

// TestLargeFileCleaned lets a lane be cleaned of secrets that newer rules find in a file that is stored in pieces, before it is pushed.
func TestLargeFileCleaned(t *testing.T) {
	t.Parallel()
	h := layerstest.NewHub(t, "directory")
	a := largeMemory(t, h, "laptop")
	a.Opts.Rules = redact.Rules{}
	filler := strings.Repeat("filler of a long file\n", 30)
	files := map[string]string{"a": filler + "TOKEN_aaaaaaaa\n", "b": filler, "c": "TOKEN_bbbbbbbb" + filler + "TOKEN_bbbbbbbb"}
	src := sessionWith(t, t.TempDir(), "s1", 2, files)
	p := layerstest.Add(t, a, src)[0].Project
	a.Opts.Rules = layerstest.ToyRules()
	if got := layerstest.PushAll(t, a); got.Lanes[0].Cleaned.Objects != 2 {
		t.Errorf("cleaned %+v, want 2 objects", got.Lanes[0].Cleaned)
	}
	layerstest.NoSecret(t, a, p.ID)
	layerstest.Roots(t, a)
	if got := filesOf(t, a, p.ID, "s1"); len(got[0]) != 3 || got[0]["a"] != files["a"] || got[0]["b"] != files["b"] || got[0]["c"] != files["c"] {
		t.Errorf("the exact bytes are %q", got)
	}
	if got := layerstest.Add(t, a, src)[0]; got.Change != "unchanged" {
		t.Errorf("captured again it is %s", got.Change)
	}
	leaks, err := secrets.ScanOutgoing(t.Context(), a.DB, p.ID, func(string) bool { return false })
	if err != nil || len(leaks) > 0 {
		t.Errorf("still: %v, %v", leaks, err)
	}
}

// TestFileLeak says of a secret in a file that is stored in pieces which object holds it.
func TestFileLeak(t *testing.T) {
	t.Parallel()
	a := largeMemory(t, layerstest.NewHub(t, "directory"), "laptop")
	a.Opts.Rules = redact.Rules{}
	p := layerstest.Add(t, a, sessionWith(t, t.TempDir(), "s1", 2, map[string]string{"a": strings.Repeat("filler\n", 30) + "TOKEN_aaaaaaaa\n"}))[0].Project
	a.Opts.Gate = layerstest.ToyRules()
	leaks, err := secrets.ScanOutgoing(t.Context(), a.DB, p.ID, func(string) bool { return false })
	if err != nil || len(leaks) != 1 || leaks[0].Kind != "object" || leaks[0].Name != layerstest.NowOf(t, a, p).Files[0].Hash {
		t.Errorf("%+v, %v", leaks, err)
	}
}

// TestFileCleaner cleans a file of several windows with private keys, manifests and other secrets over many lines, which
// lie over the end of every window: none is left, the cuts give the file back, and the lines stand.
func TestFileCleaner(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	rules, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(51, 52))
	kinds := plants.All()
	var b strings.Builder
	var planted []string
	for b.Len() < 5<<19 {
		p := kinds[rng.IntN(len(kinds))]
		secret := p.Make(rng)
		planted = append(planted, plants.Lines(secret)...)
		fmt.Fprintf(&b, "%s\n%s\n", strings.Repeat("and so on, line of a build;\n", rng.IntN(400)), plants.Fill(p.Setting, secret))
	}
	text := b.String()
	c := secrets.NewFileCleaner(strings.NewReader(text), rules)
	clean, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(clean), "\n") != strings.Count(text, "\n") {
		t.Error("another number of lines")
	}
	var back bytes.Buffer
	patch := redact.Patch{After: int64(len(clean)), RawLen: int64(len(text)), Cuts: c.Cuts}
	if err := redact.Restore(&back, bytes.NewReader(clean), patch); back.String() != text {
		t.Errorf("the cuts do not give the file back: %v", err)
	}
	missed := 0
	for _, s := range planted {
		if bytes.Contains(clean, []byte(s)) {
			missed++
			t.Logf("left: %q", s)
		}
	}
	if missed*100 > len(planted) {
		t.Errorf("%d of %d are left", missed, len(planted))
	}
	leaks, err := secrets.LeaksIn(bytes.NewReader(clean), 0, rules, secrets.Leak{Kind: "object"})
	if err != nil || len(leaks)*200 > len(planted) {
		t.Errorf("looked at again: %d leaks, %v", len(leaks), err)
	}
}
