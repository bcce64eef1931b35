package refs

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// TestKeyOf asks for the key of a former id of a store whose lanes are lost one after another.
func TestKeyOf(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	was, key := r.device.ID, r.device.PublicKey()
	for _, p := range []Project{testProject, "00000000000000bb"} {
		if err := r.Update(t.Context(), p, "add", func(tx *Tx) error {
			_, err := tx.Add("set", "x")
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.NewDeviceID(t.Context()); err != nil {
		t.Fatal(err)
	}
	lose := func(g string, l Lane) {
		t.Helper()
		tip, err := r.GitOf(l).Ref(l.LocalRef())
		if err != nil {
			t.Fatal(err)
		}
		err = pack.Drop(filepath.Join(r.dir, g, "objects", "pack"), "merge", func(id pack.ID) bool { return id != tip })
		if err = errors.Join(err, r.GitOf(l).Close()); err != nil {
			t.Fatal(err)
		}
	}
	all, err := r.lanes(false)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if got, err := r.KeyOf(was); got != key || err != nil {
			t.Errorf("KeyOf = %q, %v, want %q", got, err, key)
		}
		if l.Device == was {
			lose(MemoryDir, l)
		}
	}
	if got, err := r.KeyOf(was); got != key || err != nil { // from originals.git
		t.Errorf("KeyOf = %q, %v, want %q", got, err, key)
	}
	lose(OriginalsDir, Lane{Project: Home, Device: was, Originals: true})
	if got, err := r.KeyOf(was); got != "" || err == nil {
		t.Errorf("KeyOf of lost lanes = %q, %v", got, err)
	}
	none, err := lane.NewDevice("other", testOptions().Rand)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.KeyOf(none.ID); got != "" || err != nil {
		t.Errorf("KeyOf of another device = %q, %v", got, err)
	}
}
