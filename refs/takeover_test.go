package refs

import (
	"errors"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// TestTakeOver takes over a session from a former id: its patch and those of its overflow files come along, also the
// second time.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	was := Lane{Project: testProject, Device: r.device.ID}
	if err := r.Update(t.Context(), testProject, "add", func(tx *Tx) error {
		rec, err := tx.Add("session", map[string]any{"files": []map[string]string{{"name": "a.txt"}, {"name": "b.txt"}}})
		return errors.Join(err, tx.PutPatch(rec.ID, []byte("session")),
			tx.PutPatch(lane.FilePatch(rec.ID, "a.txt"), []byte("file")))
	}); err != nil {
		t.Fatal(err)
	}
	if err := r.NewDeviceID(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.TakeOver(t.Context(), was, pack.ID{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.View(t.Context(), testProject, func(tx *Tx) error {
		all, err := tx.Records(t.Context(), nil)
		if err != nil {
			return err
		}
		sessions := 0
		for _, rec := range all {
			if rec.Kind != "session" || rec.Device != r.device.ID {
				continue
			}
			sessions++
			for id, want := range map[objects.Hash]string{rec.ID: "session", lane.FilePatch(rec.ID, "a.txt"): "file"} {
				if b, err := tx.Patch(rec.Device, id); string(b) != want || err != nil {
					t.Errorf("Patch = %q, %v, want %q", b, err, want)
				}
			}
		}
		if sessions != 1 {
			t.Errorf("%d sessions were taken over, want 1", sessions)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestRenameAfterSplit renames a device that another process has made a new one meanwhile: it stays that.
func TestRenameAfterSplit(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	other, err := Open(r.dir, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	was := r.device.ID
	if err := other.NewDeviceID(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.RenameDevice(t.Context(), "study"); err != nil {
		t.Fatal(err)
	}
	got, err := lane.ReadDevice(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	if got.ID == was || got.PublicKey() != other.device.PublicKey() || got.Name != "study" {
		t.Errorf("the device is %s %q, want %s %q", got.ID, got.Name, other.device.ID, "study")
	}
}
