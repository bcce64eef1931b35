package sessions_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A big is a store of 1,000 sessions and 9,000 further snapshots and versions, in so many commits.
type big struct {
	m       *layers.Memory
	claude  string
	project state.Project
}

const bigSessions, bigRecords = 1000, 10_000

// newBig makes a big store, for measuring, in MEM_BIG_STORE if that is set (and only once there) and else
// somewhere of its own. MEM_BIG_OPERATIONS is the number of commits; one for each record is 10000.
func newBig(tb testing.TB) big {
	tb.Helper()
	ctx := context.Background()
	dir := cmp.Or(os.Getenv("MEM_BIG_STORE"), tb.TempDir())
	b := big{claude: filepath.Join(dir, "claude"), project: projects.ProjectOf("path /home/dev/big", "/home/dev/big")}
	var err error
	if b.m, err = layers.Init(ctx, filepath.Join(dir, "memory"), "desk", layerstest.TestOptions()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { b.m.Close() })
	if known, err := trust.Projects(ctx, b.m.DB); err != nil || len(known) > 0 {
		return b
	}
	if err := projects.AddPaths(ctx, b.m.DB, []records.PathBody{{Path: "/home/dev/big", Project: b.project.ID, Identity: b.project.Identity, Name: b.project.Name}}); err != nil {
		tb.Fatal(err)
	}
	commits, err := strconv.Atoi(cmp.Or(os.Getenv("MEM_BIG_OPERATIONS"), "50"))
	if err != nil {
		tb.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for c := range commits {
		message := fmt.Sprintf("compress %s  100.2k -> 3.3k tokens", records.ShortID(bigID(c)))
		err := b.m.Refs.Update(ctx, b.project.ID, message, func(tx *refs.Tx) error {
			if c == 0 {
				if _, err := tx.Add(records.KindProject, records.ProjectBody{Identity: b.project.Identity, Name: b.project.Name}); err != nil {
					return err
				}
			}
			tx.Trailer("Op", "compress")
			tx.Trailer("Session", bigID(c))
			for i := c * bigRecords / commits; i < (c+1)*bigRecords/commits; i++ {
				if err := bigRecord(tx, i, rng); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	b.files(tb)
	return b
}

// bigRecord adds a new session, a growth of one or a version of one.
func bigRecord(tx *refs.Tx, i int, rng *rand.Rand) error {
	s := bigSnapshot(i, rng)
	if i < bigSessions || i%3 == 0 {
		_, err := tx.Add(records.KindSession, s)
		return err
	}
	plan := planning.Plan{Engine: "extract-1", Budget: 3300}
	for n := range 12 {
		plan.Kept = append(plan.Kept, planning.Span{Message: 40 * n, Start: 12, End: 600, Weight: 80})
	}
	recipe, err := plan.Recipe()
	if err != nil {
		return err
	}
	_, err = tx.Add(records.KindVersion, &records.Version{
		Session: s.Session, Label: fmt.Sprintf("v%03d", 1+(i-bigSessions)/bigSessions), Engine: "extract-1", Counter: "o200k*1.60", TokensIn: 100_234, TokensOut: 3_300,
		Derivation: lineage.Derivation{Output: objects.Sum(fmt.Append(nil, "out", i)), Inputs: []objects.Hash{s.Original}, Recipe: recipe},
		Settings:   records.VersionSettings{Mode: "uniform", Ratio: 30, Aggressiveness: "aggressive", Keepit: "decay", Distance: 5},
		MessagesIn: 450, MessagesOut: 15, Ratio: 30.37, Preserved: 4, Summarised: 3,
	})
	return err
}

func bigSnapshot(i int, rng *rand.Rand) records.Snapshot {
	last := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i%bigSessions) * 7 * time.Hour)
	s := records.Snapshot{
		Session: bigID(i), Original: objects.Sum(fmt.Append(nil, "in", i)), Size: 300, Segments: 1 + i/bigSessions, Source: "/home/dev/.claude/projects/-home-dev-big/" + bigID(i) + ".jsonl",
		Scan: transcript.Carry{
			Closed: 300, Values: 900, Messages: 450, Typed: 31, First: last.Add(-8 * time.Hour), Last: last, Cwd: "/home/dev/big", Branch: "main", Version: "2.1.0",
			Model: "claude-opus-4-6", Title: fmt.Sprintf("Session number %d of a long story", i%bigSessions), TitleFrom: transcript.FromTyped, LastID: fmt.Sprint("msg_", i), LastUUID: bigID(i),
		},
	}
	for n := range 10 {
		k := records.TypedKey{N: 1 + 30*n}
		for j := range k.Key {
			k.Key[j] = byte(rng.UintN(256))
		}
		s.Typed = append(s.Typed, k)
	}
	s.Markers = []records.Mark{{N: 31, Weight: keepit.Weight(rng.IntN(101)), Start: 0, End: 90}}
	return s
}

func bigID(i int) string {
	h := objects.Sum(fmt.Append(nil, i%bigSessions)).String()
	return h[:8] + "-" + h[8:12] + "-4" + h[12:15] + "-a" + h[15:18] + "-" + h[18:30]
}

// files writes what Claude Code would have of the sessions: as they are in memory, some grown, some unknown.
func (b big) files(tb testing.TB) {
	dir := filepath.Join(b.claude, "projects", capture.ClientDir("/home/dev/big"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	for i := range bigSessions {
		layerstest.Write(tb, filepath.Join(dir, bigID(i)+".jsonl"), strings.Repeat(" ", 300+i%100/99))
	}
	for i := range 50 {
		layerstest.Write(tb, filepath.Join(dir, fmt.Sprintf("00000000-0000-4000-a000-%012d.jsonl", i)), strings.Repeat(layerstest.UserLine(i, "hello there"), 400))
	}
}

// BenchmarkLists measures what "mem ls", "mem status" and "mem log" do, from the caches.
func BenchmarkLists(b *testing.B) {
	s := newBig(b)
	ctx := context.Background()
	for _, of := range []struct {
		name string
		run  func() error
	}{
		{"Outline", func() error { _, err := trust.Outline(ctx, s.m.DB, s.project.ID); return err }},
		{"State", func() error { _, err := trust.State(ctx, s.m.DB, s.project.ID); return err }},
		{"Log", func() error { _, err := history.Log(ctx, s.m.DB, s.project.ID, 0); return err }},
		{"Projects", func() error { _, err := trust.Projects(ctx, s.m.DB); return err }},
		{"Log20", func() error { _, err := history.Log(ctx, s.m.DB, s.project.ID, 20); return err }},
		{"List", func() error {
			_, _, err := sessions.List(ctx, s.m.DB, s.project, capture.ListOptions{Claude: s.claude, Dir: "/home/dev/big"})
			return err
		}},
		{"Rebuild", func() error {
			os.RemoveAll(s.m.CachePath())
			_, err := trust.State(ctx, s.m.DB, s.project.ID)
			return err
		}},
	} {
		b.Run(of.name, func(b *testing.B) {
			for b.Loop() {
				if err := of.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
