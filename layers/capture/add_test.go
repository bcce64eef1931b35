package capture_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/layerstest"
)

// The commits of an import hold every source once and in order, no session twice, and no more than a kill may cost; of a large
// project there are few, because each reads the whole of it.
func TestBatches(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, capture.BatchFiles, capture.BatchFiles + 1, 3000, 100_000} {
		g := &capture.Group{}
		for i := range n {
			id := i
			if rnd.IntN(5000) == 0 && i > 0 {
				id-- // found in two places
			}
			g.Sources = append(g.Sources, capture.Source{Path: fmt.Sprintf("/a/%08d.jsonl", id)})
			g.Sizes = append(g.Sizes, int64(rnd.IntN(8000)))
		}
		if n == 3000 {
			g.Sizes[7], g.Sizes[2000] = capture.BatchBytes+1, capture.BatchBytes
		}
		at, batches := 0, g.Batches()
		for _, b := range batches {
			ids, bytes := map[string]bool{}, int64(0)
			for i, src := range b {
				if src.Path != g.Sources[at+i].Path {
					t.Fatalf("of %d sources, number %d is %s, want %s", n, at+i, src.Path, g.Sources[at+i].Path)
				}
				if ids[src.SessionID()] {
					t.Errorf("of %d sources, session %s is twice in a commit", n, src.SessionID())
				}
				ids[src.SessionID()] = true
				bytes += g.Sizes[at+i]
			}
			if most := min(max(capture.BatchFiles, at/8), capture.BatchMost); len(b) == 0 || len(b) > most || bytes > capture.BatchBytes && len(b) > 1 {
				t.Errorf("of %d sources, after %d: a commit of %d, %d bytes; want at most %d, %d bytes", n, at, len(b), bytes, most, int64(capture.BatchBytes))
			}
			at += len(b)
		}
		if at != n {
			t.Errorf("%d of %d sources are in commits", at, n)
		}
		if n == 100_000 && len(batches) > 100 {
			t.Errorf("%d sources make %d commits", n, len(batches))
		}
	}
}

// A dry run compares sizes and times, as "mem status" does: it reads no file that has those of its capture.
func TestDryRunReadsNothingUnchanged(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	dir := t.TempDir()
	const text = "a message of a few words"
	old, other := layerstest.UserLine(1, text), layerstest.UserLine(1, strings.ToUpper(text))
	src := layerstest.Write(t, filepath.Join(dir, "aaaa0001.jsonl"), old)
	layerstest.Add(t, m, src)
	for _, tt := range []struct {
		text  string
		after time.Duration // of the capture
		want  string
	}{{old, -time.Hour, "unchanged"}, {old, time.Hour, "unchanged"}, {other, -time.Hour, "unchanged"}, {other, 2 * time.Hour, "rewritten"}, {old + layerstest.UserLine(2, text), time.Hour, "grown"}} {
		layerstest.Write(t, src.Path, tt.text)
		at := layerstest.TestOptions().Now().Add(tt.after)
		if err := os.Chtimes(src.Path, at, at); err != nil {
			t.Fatal(err)
		}
		added, err := capture.Add(t.Context(), m.DB, []capture.Source{src}, capture.AddOptions{DryRun: true})
		if err != nil || len(added) != 1 || added[0].Change != tt.want || added[0].Session != "aaaa0001" {
			t.Errorf("%.60q, modified %v after its capture: %+v, %v; want %s", tt.text, tt.after, added, err, tt.want)
		}
	}
}
