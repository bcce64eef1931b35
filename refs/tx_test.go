package refs

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
