package refs

import (
	"testing"

	"github.com/memvcs/mem/refs/lane"
)

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
