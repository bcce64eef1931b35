package incoming

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
)

// A came is a segment on its way.
type came struct {
	id   pack.ID
	blob []byte
	sum  objects.Hash
}

// segmentsOf makes the segments of a stream that grew several times.
func segmentsOf(t *testing.T, rng *rand.Rand, growths int) (all []came, ids []pack.ID) {
	t.Helper()
	tail := &stream.Tail{Hash: objects.NewHasher()}
	for range growths {
		var b bytes.Buffer
		for range 1 + rng.IntN(200) {
			fmt.Fprintf(&b, "line %d\n", rng.IntN(50))
		}
		for s, err := range stream.Append(context.Background(), tail, &b) {
			if err != nil {
				t.Fatal(err)
			}
			c := came{pack.Name(pack.Blob, s.Blob), bytes.Clone(s.Blob), s.Head.Sum}
			all, ids = append(all, c), append(ids, c.id)
		}
	}
	return all, ids
}

// TestAhead lets the segments of streams come in all kinds of order: what is found good is what a reader finds good, in order all of it.
func TestAhead(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var all []came
		var streams [][]pack.ID
		for range 1 + rng.IntN(5) {
			s, ids := segmentsOf(t, rng, 1+rng.IntN(5))
			all, streams = append(all, s...), append(streams, ids)
		}
		bad := map[pack.ID]bool{}
		inOrder := seed%4 == 0
		switch seed % 4 {
		case 1:
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		case 2: // one is broken, wherever it is
			c := &all[rng.IntN(len(all))]
			c.blob[len(c.blob)-1-rng.IntN(4)] ^= 1 << rng.IntN(8)
			bad[c.id] = true
		case 3: // two have changed their places
			i, j := rng.IntN(len(all)), rng.IntN(len(all))
			all[i], all[j] = all[j], all[i]
		}
		a := newPreverifier(1 + rng.IntN(3))
		sums := map[pack.ID]objects.Hash{}
		for _, c := range all {
			sums[c.id] = c.sum
			a.add(c.id, bytes.Clone(c.blob))
			a.add(pack.Name(pack.Blob, []byte("x")), []byte("no segment"))
		}
		a.wait()
		for _, ids := range streams {
			got, ok := a.sums(ids)
			if inOrder && !ok {
				t.Errorf("seed %d: a stream of %d segments that came in order was not checked", seed, len(ids))
			}
			for i := range got {
				if got[i] != sums[ids[i]] || bad[ids[i]] {
					t.Errorf("seed %d: segment %d ends in %s, want %s; broken: %v", seed, i, got[i].Short(), sums[ids[i]].Short(), bad[ids[i]])
				}
			}
			if _, ok := a.sums(ids[1:]); ok && len(ids) > 1 {
				t.Errorf("seed %d: a stream without its beginning was found good", seed)
			}
		}
	}
}

// TestAheadBomb stops at a stream that unpacks to far more than what came.
func TestAheadBomb(t *testing.T) {
	t.Parallel()
	tail := &stream.Tail{Hash: objects.NewHasher()}
	a := newPreverifier(1)
	a.unpack.n.Store(10 << 20)
	var ids []pack.ID
	for s, err := range stream.Append(context.Background(), tail, bytes.NewReader(make([]byte, 24<<20))) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, pack.Name(pack.Blob, s.Blob))
		a.add(ids[len(ids)-1], bytes.Clone(s.Blob))
	}
	a.wait()
	if _, ok := a.sums(ids); ok {
		t.Error("all of a bomb was unpacked ahead")
	}
	if _, ok := a.sums(ids[:2]); !ok {
		t.Error("nothing of it was")
	}
}
