package refs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs/lane"
)

// TestTipsAlone asks a snapshot for its tips while no object can be read: they are all that a reader needs who knows what the tips
// hold. Whatever else is asked for is an error, and stays one.
func TestTipsAlone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	add := func(tx *Tx) error { _, err := tx.Add("set", map[string]string{"a": "b"}); return err }
	if err := r.Update(ctx, testProject, "one", add); err != nil {
		t.Fatal(err)
	}
	var before []objects.Hash
	list := func(tx *Tx) (err error) { before, err = tx.RecordIDs(); return err }
	if err := r.View(ctx, testProject, list); err != nil || len(before) == 0 {
		t.Fatalf("RecordIDs = %v, %v", before, err)
	}
	blind, err := Open(r.dir, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer blind.Close()
	packs := filepath.Join(r.dir, MemoryDir, "objects", "pack")
	if err := os.Rename(packs, packs+".away"); err != nil {
		t.Fatal(err)
	}
	err = blind.View(ctx, testProject, func(tx *Tx) error {
		if tips := tx.Tips(); len(tips) != 1 || tips[0].Device != r.Device().ID {
			t.Errorf("Tips = %v, want that of the device", tips)
		}
		for range 2 {
			if _, err := tx.RecordIDs(); err == nil {
				t.Error("RecordIDs without objects: no error")
			}
			if _, err := tx.Get(ctx, objects.Sum(nil)); err == nil {
				t.Error("Get without objects: no error")
			}
		}
		return nil
	})
	if err != nil {
		t.Errorf("View: %v", err)
	}
	if err := blind.Update(ctx, testProject, "two", add); err == nil {
		t.Error("Update without objects: no error")
	}
	if err := os.RemoveAll(packs); err != nil { // what the update left
		t.Fatal(err)
	}
	if err := os.Rename(packs+".away", packs); err != nil {
		t.Fatal(err)
	}
	err = r.View(ctx, testProject, func(tx *Tx) error {
		ids, err := tx.RecordIDs()
		if !slices.Equal(ids, before) {
			t.Errorf("RecordIDs = %v, want %v", ids, before)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestHasUnloaded asks a lane for an object before anything of it was read.
func TestHasUnloaded(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	h, err := txStore{r}.Put(t.Context(), strings.NewReader("an object"))
	if err != nil {
		t.Fatal(err)
	}
	tip, err := r.memory.Ref(lane.Ref(testProject, r.device.ID))
	if err != nil {
		t.Fatal(err)
	}
	l := lane.New(r.memory, tip, r.device.ID)
	if ok, err := l.Has(h); !ok || err != nil {
		t.Errorf("Has = %v, %v", ok, err)
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	if !testing.Short() { // the race detector is for goroutines
		t.Run("map", func(t *testing.T) { agreesWithMap(t, txStore{newRepo(t)}) })
	}
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
