package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	capturing "github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// storeLong is a memory in the format "mem 1" with overflow files stored as streams, next to some stored as blobs. It was
// made once, by [TestMakeStoreLong], and never changes; storeLongFacts lists its content.
const (
	storeLong      = "../../testdata/store/v1-long"
	storeLongFacts = "../../testdata/store/v1-long.txt"
)

// TestStoreLong reads all of the store, and writes to it.
func TestStoreLong(t *testing.T) {
	t.Parallel()
	dir := copyStore(t, storeLong)
	m, err := layers.Open(dir, state.Options{Now: time.Now, Rand: rand.NewChaCha8([32]byte{1}), LockTimeout: time.Minute, Workers: 2})
	must(t, err)
	defer m.Close()
	got := recordsOf(t, m) + filesOf(t, m)
	if _, err := os.Stat(storeLongFacts); *update && os.IsNotExist(err) {
		must(t, os.WriteFile(storeLongFacts, []byte(got), 0o644))
	}
	want, err := os.ReadFile(storeLongFacts)
	must(t, err)
	compareLines(t, got, string(want))
	if strings.Count(got, "exact ") != 5 {
		t.Errorf("not 5 files: %s", got)
	}
	file := filepath.Join(t.TempDir(), filepath.Base(longFiles))
	must(t, os.WriteFile(file, []byte(longSession(3)), 0o600))
	added, err := capturing.Add(t.Context(), m.DB, []capturing.Source{capturing.SourceOf(file)}, capturing.AddOptions{})
	if err != nil || added[0].Change != "grown" || len(added[0].Now.Files) != 3 {
		t.Errorf("grown by a message: %+v, %v", added, err)
	}
	if c, err := repair.Check(t.Context(), m.DB, true); err != nil || len(c.Problems) > 0 {
		t.Errorf("%v, %v", c.Problems, err)
	}
}

// filesOf lists all overflow files with the hash of their exact bytes.
func filesOf(t *testing.T, m *layers.Memory) string {
	t.Helper()
	f := &facting{t: t, m: m, ctx: t.Context()}
	projects, err := trust.Projects(f.ctx, m.DB)
	must(t, err)
	for _, p := range projects {
		st, err := trust.State(f.ctx, m.DB, p.ID)
		must(t, err)
		for _, s := range st.Sessions {
			for i := range s.Points {
				for _, file := range s.Points[i].Files {
					sum := f.sum(func(w io.Writer) error {
						return capturing.WriteFile(f.ctx, m.DB, capturing.SessionPoint{Project: p.ID, Session: s, Point: &s.Points[i]}, file, w)
					})
					f.say("exact %s of point %d withheld %v %s", file.Name, i, file.Withheld, sum)
				}
			}
		}
	}
	return f.out.String()
}

const longFiles = "-home-dev-shop/1a0f5c3e-7777-4888-8999-aaaabbbbcccc.jsonl"

func longSession(messages int) string {
	var b strings.Builder
	for i := range messages {
		b.WriteString(userRecord(id(longFiles), i, fmt.Sprint("message ", i)))
	}
	return b.String()
}

// TestMakeStoreLong makes the store if there is none and -update is given, as [TestMakeStoreV1] does: a session with a small file, a
// long one, and a long one with words that were taken out, the second time with another one in the long one, too.
func TestMakeStoreLong(t *testing.T) {
	if _, err := os.Stat(storeLong); !*update || err == nil {
		t.Skip("the store was made once and stays as it is")
	}
	store, err := filepath.Abs(storeLong)
	must(t, err)
	t.Chdir(t.TempDir())
	s := &storeMaker{t: t, store: store, name: "desk", now: time.Date(2026, 3, 20, 14, 0, 0, 0, time.UTC), random: rand.NewChaCha8([32]byte([]byte("the store with streams of files.")))}
	s.open(wordRules())
	half := strings.Repeat("GET /orders 200 in 12 ms\n", 180_000)
	beside := strings.TrimSuffix(longFiles, ".jsonl") + "/tool-results/"
	s.write(beside+"small.txt", "a word again\n")
	s.write(beside+"long.txt", half+half)
	s.add(s.write(longFiles, longSession(1)))
	s.write(beside+"long.txt", half+"Prices\n"+half)
	s.write(beside+"line.txt", strings.Repeat("no end of the line, ", 250_000)+"again")
	s.add(s.write(longFiles, longSession(2)))
	s.open(redact.Rules{})
	must(t, s.m.Close())
	for _, leftover := range []string{"cache", "spool", "init.lock", "memory.git/mem", "originals.git/mem"} {
		must(t, os.RemoveAll(filepath.Join(store, leftover)))
	}
}

// storeWords is a memory in the format "mem 1" with titles, tags, relations to other projects, and confirmed and
// resolved facts. [TestMakeStoreWords] made it once and it never changes; storeWordsFacts lists its contents.
const (
	storeWords      = "../../testdata/store/v1-words"
	storeWordsFacts = "../../testdata/store/v1-words.txt"
)

// TestStoreWords reads all of the store, and writes to it.
func TestStoreWords(t *testing.T) {
	t.Parallel()
	dir := copyStore(t, storeWords)
	m, err := layers.Open(dir, state.Options{Now: time.Now, Rand: rand.NewChaCha8([32]byte{1}),
		LockTimeout: time.Minute, Workers: 2})
	must(t, err)
	defer m.Close()
	got := wordsOf(t, m)
	if _, err := os.Stat(storeWordsFacts); *update && os.IsNotExist(err) {
		must(t, os.WriteFile(storeWordsFacts, []byte(got), 0o644))
	}
	want, err := os.ReadFile(storeWordsFacts)
	must(t, err)
	compareLines(t, got, string(want))
	for _, kind := range []string{"title", "tag", "relation", "confirmed", "resolved"} {
		if !strings.Contains(got, "\n"+kind+" ") {
			t.Errorf("no %s: %s", kind, got)
		}
	}
	if got := wordsOf(t, m); got != string(want) {
		t.Error("with a warm cache the store reads differently")
	}
	lib, app := wordsProjects(t, m)
	st, err := trust.State(t.Context(), m.DB, lib.ID)
	must(t, err)
	related := state.Rev{Kind: state.IsSession, Project: lib, Session: st.Sessions[0]}
	must(t, sessions.Unrelate(t.Context(), m.DB, related, app.ID))
	if got := wordsOf(t, m); strings.Contains(got, "\nrelation ") {
		t.Errorf("the relation was removed: %s", got)
	}
	if c, err := repair.Check(t.Context(), m.DB, true); err != nil || len(c.Problems) > 0 {
		t.Errorf("%v, %v", c.Problems, err)
	}
}

// wordsProjects returns the projects of the store.
func wordsProjects(t *testing.T, m *layers.Memory) (lib, app state.Project) {
	t.Helper()
	all, err := trust.Projects(t.Context(), m.DB)
	must(t, err)
	if len(all) != 2 {
		t.Fatalf("projects: %+v", all)
	}
	slices.SortFunc(all, func(a, b state.Project) int { return strings.Compare(b.Name, a.Name) })
	return all[0], all[1]
}

// wordsOf lists the statements about sessions and facts.
func wordsOf(t *testing.T, m *layers.Memory) string {
	t.Helper()
	var b strings.Builder
	lib, app := wordsProjects(t, m)
	for _, p := range []state.Project{lib, app} {
		fmt.Fprintf(&b, "project %s %s\n", p.ID, p.Name)
		st, err := trust.Outline(t.Context(), m.DB, p.ID)
		must(t, err)
		for _, s := range st.Sessions {
			fmt.Fprintf(&b, "title %s %q\n", s.ID, s.Title())
		}
		for _, tag := range st.Tags() {
			fmt.Fprintf(&b, "tag %s of %s\n", tag.Name, tag.Session.ID)
		}
		list, err := sessions.RelatedTo(t.Context(), m.DB, p.ID)
		must(t, err)
		for _, r := range list {
			fmt.Fprintf(&b, "relation %s of %s to %s %q %s\n",
				r.Session.ID, r.From.Name, r.To, r.Reason, r.Time.UTC().Format(time.RFC3339))
		}
		set, err := revision.Facts(t.Context(), m.DB, p.ID)
		must(t, err)
		for f := range set.All() {
			fmt.Fprintf(&b, "fact %s %s %q trust %s stated %s\n",
				f.ID, f.Kind, f.Text, f.Trust, f.Extracted.UTC().Format(time.RFC3339))
			if f.Confirmed {
				fmt.Fprintf(&b, "confirmed %s\n", f.ID)
			}
			if f.Resolved {
				fmt.Fprintf(&b, "resolved %s %q\n", f.ID, f.Resolution)
			}
		}
	}
	return b.String()
}

// The sessions that the store holds.
const (
	libSession = "-src-lib/3c1f7f0e-1111-4222-8333-9999aaaabbbb.jsonl"
	appSession = "-src-app/4d2a8a1f-2222-4333-8444-ccccddddeeee.jsonl"
)

// TestMakeStoreWords makes the store if there is none and -update is given, as [TestMakeStoreV1] does.
func TestMakeStoreWords(t *testing.T) {
	if _, err := os.Stat(storeWords); !*update || err == nil {
		t.Skip("the store was made once and stays as it is")
	}
	store, err := filepath.Abs(storeWords)
	must(t, err)
	t.Chdir(t.TempDir())
	s := &storeMaker{t: t, store: store, name: "desk", now: time.Date(2026, 4, 2, 14, 0, 0, 0, time.UTC),
		random: rand.NewChaCha8([32]byte([]byte("the store with the user's words.")))}
	s.open(wordRules())
	in := func(dir, record string) string { return strings.Replace(record, "/home/dev/shop", dir, 1) }
	s.add(s.write(libSession, in("/src/lib", userRecord(id(libSession), 0, "The cache of the library is broken."))))
	s.add(s.write(appSession, in("/src/app", userRecord(id(appSession), 0, "The page is slow."))))
	lib, app := wordsProjects(t, s.m)
	ctx := t.Context()
	rev := func(p state.Project, name string) state.Rev {
		st, err := trust.State(ctx, s.m.DB, p.ID)
		must(t, err)
		return state.Rev{Kind: state.IsSession, Project: p, Session: st.Session(id(name))}
	}
	must(t, sessions.Retitle(ctx, s.m.DB, rev(lib, libSession), "The cache", sessions.Edit{}))
	must(t, sessions.Tag(ctx, s.m.DB, rev(lib, libSession), "cache-work", sessions.Edit{}))
	must(t, sessions.Relate(ctx, s.m.DB, rev(lib, libSession), app.ID, "shared code"))
	must(t, sessions.Relate(ctx, s.m.DB, rev(app, appSession), lib.ID, "by mistake"))
	must(t, sessions.Unrelate(ctx, s.m.DB, rev(app, appSession), lib.ID))
	given := func(kind facts.Kind, text, quote string) facts.InputFact {
		return facts.InputFact{Kind: kind, Text: text, Evidence: []facts.Evidence{{Message: 1, Quote: quote}}}
	}
	_, err = knowledge.SaveFacts(ctx, s.m.DB, rev(lib, libSession), facts.Input{Exchanges: []facts.InputExchange{{
		Messages: [2]int{1, 1}, Facts: []facts.InputFact{
			given(facts.Issue, "The cache of the library is broken.", "The cache of the library is broken."),
			given(facts.Decision, "The library has a cache.", "The cache of the library"),
		}}}}, knowledge.SaveOptions{})
	must(t, err)
	set, err := revision.Facts(ctx, s.m.DB, lib.ID)
	must(t, err)
	all := set.Live()
	must(t, knowledge.JudgeFacts(ctx, s.m.DB, lib.ID, all[:1], facts.Judgement{Says: facts.Resolves, Value: true, Reason: "the disk was full"}, false))
	must(t, knowledge.JudgeFacts(ctx, s.m.DB, lib.ID, all[1:], facts.Judgement{Says: facts.Confirms, Value: true}, false))
	must(t, s.m.Close())
	for _, leftover := range []string{"cache", "spool", "reserve", "init.lock", "memory.git/mem", "originals.git/mem"} {
		must(t, os.RemoveAll(filepath.Join(store, leftover)))
	}
}
