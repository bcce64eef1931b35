package main

import (
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	capturing "github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
)

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
	s.compress(elsewhere, compress.Settings{Tokens: 100})
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
	s.compress(grows, compress.Settings{Ratio: 10})
	s.compress(grows, compress.Settings{Preset: "standard"})
	s.compress(grows, compress.Settings{Tokens: 1500, Keepit: compress.PreserveAll})
	s.compress(agents, compress.Settings{Tiers: []compress.Tier{{End: 50, Ratio: 20}, {End: 100, Ratio: 4}}, Skip: 2})
	s.compress(removed, compress.Settings{Ratio: 3})
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

func (s *storeMaker) compress(file string, settings compress.Settings) {
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
