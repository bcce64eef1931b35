package refine

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// transcripts calls fn with the committed transcripts and, if MEM_TRANSCRIPTS names a directory, with what lies there.
func transcripts(t testing.TB, fn func(path string, b []byte)) {
	t.Helper()
	dirs := []string{"../../testdata/transcripts"}
	if dir := os.Getenv("MEM_TRANSCRIPTS"); dir != "" {
		dirs = append(dirs, dir)
	} else if t, ok := t.(*testing.T); ok {
		t.Run("real", func(t *testing.T) {
			t.Skip("SKIPPED: MEM_TRANSCRIPTS is not set, so only the committed transcripts are read")
		})
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") {
				return err
			}
			b, err := os.ReadFile(path)
			fn(path, b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func l1(t testing.TB, src []byte, mode Mode) []byte {
	t.Helper()
	var out bytes.Buffer
	stats, err := Stream(bytes.NewReader(src), mode, nil, nil, &out)
	if err != nil {
		t.Fatal(err)
	}
	if stats.In != int64(len(src)) || stats.Out != int64(out.Len()) || stats.Entries != bytes.Count(out.Bytes(), []byte("\n")) {
		t.Fatalf("Stats = %+v for %d -> %d bytes", stats, len(src), out.Len())
	}
	return out.Bytes()
}

// TestReduction measures how much smaller L1 is than the transcripts of MEM_TRANSCRIPTS, and holds the bars
// for files over 100 KB.
func TestReduction(t *testing.T) {
	dir := os.Getenv("MEM_TRANSCRIPTS")
	if dir == "" {
		t.Skip("SKIPPED: MEM_TRANSCRIPTS is not set")
	}
	for _, c := range []struct {
		mode          Mode
		name          string
		median, share float64
	}{{Full, "full", .95, .92}, {Lean, "lean", .965, .98}} {
		var all, large []float64
		in, out, over := 0, 0, 0
		transcripts(t, func(path string, b []byte) {
			if !strings.HasPrefix(path, dir) || len(b) == 0 {
				return
			}
			n := len(l1(t, b, c.mode))
			ratio := 1 - float64(n)/float64(len(b))
			all = append(all, ratio)
			if len(b) >= 100_000 {
				large = append(large, ratio)
				in, out = in+len(b), out+n
				if ratio >= .9 {
					over++
				} else if c.mode == Lean {
					t.Log(path, len(b), ratio)
				}
			}
		})
		slices.Sort(all)
		slices.Sort(large)
		share := float64(over) / float64(len(large))
		median := large[len(large)/2]
		t.Logf("%s: %d files median %.4f; %d of 100 KB and more: median %.4f, p10 %.4f, at least .9 on %.4f of them, weighted %.4f", c.name,
			len(all), all[len(all)/2], len(large), median, large[len(large)/10], share, 1-float64(out)/float64(in))
		if median < c.median || share < c.share {
			t.Errorf("%s: median %.4f, want %.3f; at least .9 on %.4f, want %.2f", c.name, median, c.median, share, c.share)
		}
	}
}

func BenchmarkRefine(b *testing.B) {
	var all []byte
	transcripts(b, func(_ string, t []byte) {
		if len(all) < 100<<20 {
			all = append(append(all, t...), '\n')
		}
	})
	b.SetBytes(int64(len(all)))
	for b.Loop() {
		if _, err := Stream(bytes.NewReader(all), Full, nil, nil, io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
