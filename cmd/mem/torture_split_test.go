package main_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/memvcs/mem/objects"
)

// tortureSplits adds a transcript after every one of a random number of appends, cut anywhere. The
// bytes come back each time, and every state that ends with a record has the name of its bytes,
// however it came about.
func tortureSplits(t *testing.T, r *rig) {
	rng := rand.New(rand.NewPCG(seed(t)+2, 4))
	for i := range amount(t, 3, 12, 400) {
		w := NewGenerator(uint64(200+i), "/home/user/splits")
		text := w.More(10 + rng.IntN(60))
		if rng.IntN(2) == 0 {
			text = bytes.TrimSuffix(text, []byte("\n")) // as clients leave it sometimes
		}
		file := filepath.Join(r.Home, w.ID+".jsonl")
		for _, n := range cuts(rng, text) {
			if err := os.WriteFile(file, text[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			when := fmt.Sprintf("transcript %d up to byte %d", i, n)
			if res := r.mem("add", file); res.Code != 0 {
				t.Fatalf("%s: %s", when, res)
			}
			r.same(w.ID, text[:n], when)
			if text[n-1] == '\n' {
				r.named(text[:n], when)
			}
		}
	}
	r.fsck("after all splits")
}

// cuts returns where to cut text: some places anywhere, some after a record, and the end.
func cuts(rng *rand.Rand, text []byte) []int {
	first := bytes.IndexByte(text, '\n') + 1
	at := []int{len(text)}
	for range 1 + rng.IntN(8) {
		n := first + rng.IntN(len(text)-first)
		if rng.IntN(2) == 0 {
			n = bytes.LastIndexByte(text[:n], '\n') + 1
		}
		at = append(at, max(n, first))
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// named checks that content is an object under the name that b3sum would print.
func (r *rig) named(content []byte, when string) {
	r.t.Helper()
	res := r.mem("cat-file", "b3:"+objects.Sum(content).String())
	if res.Code != 0 || res.Stdout != string(content) {
		r.t.Fatalf("%s: the state is not an object of its name: exit %d, %d bytes, want %d: %s", when, res.Code, len(res.Stdout), len(content), res.Stderr)
	}
}
