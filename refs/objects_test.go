package refs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/memvcs/mem/objects"
)

func TestObjects(t *testing.T) {
	t.Parallel()
	t.Run("map", func(t *testing.T) { agreesWithMap(t, txStore{newRepo(t)}) })
	t.Run("missing", func(t *testing.T) { missingObject(t, txStore{newRepo(t)}) })
	t.Run("together", func(t *testing.T) { putTogether(t, txStore{newRepo(t)}) })
}

// agreesWithMap does random operations on the store and on a map; both must tell the same.
func agreesWithMap(t *testing.T, s txStore) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 2))
	model := map[objects.Hash][]byte{}
	puts := 300
	if testing.Short() {
		puts = 50
	}
	for range puts {
		b := randomContent(rng)
		h, err := s.Put(ctx, bytes.NewReader(b))
		if err != nil {
			t.Fatalf("Put(%d bytes): %v", len(b), err)
		}
		if h != objects.Sum(b) {
			t.Fatalf("Put(%d bytes) = %s, want %s", len(b), h, objects.Sum(b))
		}
		model[h] = b
	}
	for h, want := range model {
		if got := readObject(t, s, h); !bytes.Equal(got, want) {
			t.Fatalf("Get(%s) = %d bytes, want %d", h, len(got), len(want))
		}
	}
	var names []objects.Hash
	for h, err := range s.All(ctx) {
		if err != nil {
			t.Fatalf("All: %v", err)
		}
		names = append(names, h)
	}
	if len(names) != len(model) || !slices.IsSortedFunc(names, objects.Hash.Compare) {
		t.Fatalf("All gave %d names, sorted %v, want %d sorted ones", len(names), slices.IsSortedFunc(names, objects.Hash.Compare), len(model))
	}
}

// randomContent makes small, equal and large contents.
func randomContent(rng *rand.Rand) []byte {
	n := rng.IntN(40)
	if rng.IntN(20) == 0 {
		n = rng.IntN(200_000)
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + rng.IntN(3))
	}
	return b
}

func missingObject(t *testing.T, s txStore) {
	_, err := s.Get(context.Background(), objects.Sum([]byte("nobody stored this")))
	if !errors.Is(err, objects.ErrNotFound) {
		t.Fatalf("Get of a missing object: %v, want ErrNotFound", err)
	}
}

func putTogether(t *testing.T, s txStore) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			b := bytes.Repeat([]byte{byte(i / 2)}, 5000)
			h, err := s.Put(context.Background(), bytes.NewReader(b))
			if err != nil || h != objects.Sum(b) {
				t.Errorf("Put = %s, %v", h, err)
			}
		})
	}
	wg.Wait()
	for i := range 4 {
		readObject(t, s, objects.Sum(bytes.Repeat([]byte{byte(i)}, 5000)))
	}
}

func readObject(t *testing.T, s txStore, h objects.Hash) []byte {
	t.Helper()
	rc, err := s.Get(context.Background(), h)
	if err != nil {
		t.Fatalf("Get(%s): %v", h, err)
	}
	defer rc.Close()
	b, err := io.ReadAll(rc)
	if err != nil {
		t.Fatalf("read %s: %v", h, err)
	}
	return b
}
