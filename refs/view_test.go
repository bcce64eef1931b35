package refs

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/memvcs/mem/objects"
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
