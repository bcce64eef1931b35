package compress

import (
	"math/rand"
	"testing"
)

// TestDigestSet holds a set against a map, and what it takes against the size of the digests.
func TestDigestSet(t *testing.T) {
	notShort(t)
	t.Parallel()
	const n = 300_000
	r, s, known := rand.New(rand.NewSource(1)), &digestSet{}, map[digest]bool{}
	for range n {
		d := digest{uint64(r.Intn(200))<<56 | uint64(r.Intn(1000)), uint64(r.Intn(4))<<1 | 1}
		if got, want := s.add(d), !known[d]; got != want {
			t.Fatalf("add(%x) = %v, want %v", d, got, want)
		}
		known[d] = true
	}
	size := 0
	for i := range s.shards {
		size += 16 * len(s.shards[i].table)
	}
	if most := 26 * len(known); len(known) < n/4 || size > most {
		t.Errorf("%d digests take %d bytes, want at most %d", len(known), size, most)
	}
}

// TestBlocks holds a list against a slice.
func TestBlocks(t *testing.T) {
	t.Parallel()
	var b chunkList[int]
	const n = 3*blockSize + 5
	for i := range n {
		b.add(7 * i)
	}
	if b.n != n {
		t.Errorf("%d elements, want %d", b.n, n)
	}
	for i := range n {
		if got := *b.at(int32(i)); got != 7*i {
			t.Fatalf("at(%d) = %d, want %d", i, got, 7*i)
		}
	}
}
