package web

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
)

// A sessionPreview describes a session that is not in memory yet.
type sessionPreview struct {
	Messages    int
	Tokens      int
	Estimated   bool // Tokens is computed from the size, because the file is too large to count
	First, Last time.Time
	Markers     int
	Weights     []weightCount // the heaviest first
}

// A weightCount is the number of markers of one weight, with the name of its preset.
type weightCount struct {
	Weight keepit.Weight
	Name   string
	Count  int
}

// maxCountedBytes is the maximum size of a file whose tokens are counted.
const maxCountedBytes = 8 << 20

// previewSession reads a session file like a capture, without storing it.
func (s *Server) previewSession(ctx context.Context, path string) (*sessionPreview, error) {
	got, err := capture.Add(ctx, s.Memory.DB, []capture.Source{capture.SourceOf(path)},
		capture.AddOptions{Op: "add", DryRun: true})
	if err != nil || len(got) == 0 {
		return nil, err
	}
	now := got[0].Now
	out := &sessionPreview{Messages: now.Scan.Messages, First: now.Scan.First, Last: now.Scan.Last, Markers: len(now.Markers)}
	for _, m := range now.Markers {
		i := slices.IndexFunc(out.Weights, func(w weightCount) bool { return w.Weight == m.Weight })
		if i < 0 {
			i = len(out.Weights)
			out.Weights = append(out.Weights, weightCount{Weight: m.Weight, Name: presetName(m.Weight)})
		}
		out.Weights[i].Count++
	}
	slices.SortFunc(out.Weights, func(a, b weightCount) int { return cmp.Compare(b.Weight, a.Weight) })
	b, err := readStart(path, maxCountedBytes+1)
	if err != nil {
		return nil, err
	}
	if len(b) > maxCountedBytes {
		out.Estimated = true
		b = b[:bytes.LastIndexByte(b[:maxCountedBytes], '\n')+1]
	}
	n, err := markers.CountBytes(ctx, b, now.Scan.Model, runtime.GOMAXPROCS(0))
	out.Tokens = n.Tokens
	if out.Estimated && len(b) > 0 {
		out.Tokens = int(int64(n.Tokens) * now.Size / int64(len(b)))
	}
	return out, err
}

// readStart reads at most limit bytes of a file.
func readStart(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// presetName returns the name of the highest preset that a weight reaches.
func presetName(w keepit.Weight) string {
	for _, p := range weightPresets() {
		if w >= p.Weight {
			return p.Name
		}
	}
	return "Minor"
}
