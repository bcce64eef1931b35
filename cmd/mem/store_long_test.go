package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	capturing "github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/repair"
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
