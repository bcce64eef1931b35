package originals_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/transcript"
)

// TestMasks puts masks over files piece by piece: each value that is masked as a whole becomes its placeholder, short or long,
// and of another only the spots change.
func TestMasks(t *testing.T) {
	t.Parallel()
	prompt := func(n int) string {
		return `{"type":"user","message":{"content":"` + strings.Repeat("x", n) + `"}}`
	}
	for _, first := range []string{"{}", `{"a":1}`, "torn", prompt(1), prompt(30), prompt(300), `{"type":"assistant","l":"` + strings.Repeat("y", 90) + `"}`, "torn" + strings.Repeat(" z", 70)} {
		file := []byte(first + "\n" + `{"n":481516,"s":"481516"}` + "\n" + first + "\n")
		var masks originals.Masks
		want := slices.Clone(file)
		for v := range transcript.Values(file) {
			part := want[v.Off : v.Off+v.Size]
			if v.N == 2 {
				spots := originals.PlacesOf(v.Raw, [][]byte{[]byte("481516")})
				masks.Add(v, false, spots)
				originals.Mask(part, spots)
				continue
			}
			masks.Add(v, true, nil)
			copy(part, originals.Placeholder(len(part), v.Opaque, originals.IsPrompt(v.Raw)))
		}
		for size := 1; size <= len(file); size++ {
			got := slices.Clone(file)
			for at := 0; at < len(got); at += size {
				end := min(at+size, len(got))
				if whole := masks.Put(got[at:end], int64(at)); whole != (end <= len(first) || at >= len(file)-len(first)-1 && end < len(file)) {
					t.Fatalf("%.20q: bytes %d to %d are in a placeholder: %v", first, at, end, whole)
				}
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("%d bytes at a time: %q, want %q", size, got, want)
			}
		}
	}
}
