package refs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// bring copies the objects of another store to r and sets the ref of a lane there.
func bring(t testing.TB, r, from *Repo, l Lane) {
	t.Helper()
	files, err := os.ReadDir(from.memory.PackDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(from.memory.PackDir(), f.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(r.memory.PackDir(), f.Name()), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	old, err := r.memory.Ref(l.LocalRef())
	if err == nil {
		err = r.memory.Update(t.Context(), l.LocalRef(), old, l.Tip)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// devicesOf returns the devices whose lanes a transaction of a project sees.
func devicesOf(t testing.TB, r *Repo, p Project) (devices []string) {
	t.Helper()
	if err := r.View(t.Context(), p, func(tx *Tx) error {
		for _, tip := range tx.Tips() {
			devices = append(devices, tip.Device)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return devices
}

// TestPlace moves the lane of another device in and out again, and goes on with a lane that is on both sides, as an
// interrupted move leaves it. What is outside, no transaction sees.
func TestPlace(t *testing.T) {
	t.Parallel()
	r, other := newRepo(t), newRepo(t)
	note(t, r, testProject, "mine")
	old := note(t, other, testProject, "theirs")
	l := note(t, other, testProject, "theirs, too")
	l.Outside, old.Outside = true, true
	bring(t, r, other, l)

	trusted := false
	place := func() {
		t.Helper()
		if err := r.Place(t.Context(), func(device string) bool { return device == r.device.ID || trusted }); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(inside bool) {
		t.Helper()
		outside, err := r.Outside()
		if err != nil {
			t.Fatal(err)
		}
		want := 2
		if !inside {
			want = 1
			if len(outside) != 1 || outside[0] != l {
				t.Errorf("outside are %+v, want %+v", outside, l)
			}
		} else if len(outside) != 0 {
			t.Errorf("outside are %+v, want none", outside)
		}
		if got := devicesOf(t, r, testProject); len(got) != want {
			t.Errorf("a transaction sees the lanes of %v, want %d", got, want)
		}
		if key, err := r.KeyOf(l.Device); err != nil || key != other.device.PublicKey() {
			t.Errorf("KeyOf = %q, %v; want the key on either side", key, err)
		}
	}
	expect(false)
	place()
	expect(false)
	trusted = true
	place()
	expect(true)
	trusted = false
	place()
	expect(false)

	// Interrupted between the two steps: the older one inside is replaced.
	inside := old
	inside.Outside = false
	bring(t, r, other, inside)
	trusted = true
	place()
	expect(true)
	if now, err := r.memory.Ref(inside.LocalRef()); err != nil || now != l.Tip {
		t.Errorf("the lane is at %s, %v; want the newer %s", now, err, l.Tip)
	}
}

// TestPlaceWaits moves no lane that another process is writing.
func TestPlaceWaits(t *testing.T) {
	t.Parallel()
	r, other := newRepo(t), newRepo(t)
	l := note(t, other, testProject, "theirs")
	l.Outside = true
	bring(t, r, other, l)
	unlock, err := r.LockLane(t.Context(), testProject)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = r.Place(ctx, func(string) bool { return true })
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), l.Device) {
		t.Errorf("Place = %v; want an error with the device", err)
	}
	if outside, err := r.Outside(); err != nil || len(outside) != 1 {
		t.Errorf("outside are %v, %v", outside, err)
	}
	unlock()
	if err := r.Place(t.Context(), func(string) bool { return true }); err != nil {
		t.Error(err)
	}
}

// TestSizeAndRecordsOutside counts the objects that two lanes share once, and reads the records of a lane that is
// outside.
func TestSizeAndRecordsOutside(t *testing.T) {
	t.Parallel()
	r, other := newRepo(t), newRepo(t)
	l := note(t, other, testProject, "theirs")
	l.Outside = true
	bring(t, r, other, l)
	once, err := r.SizeOf(t.Context(), []Lane{l})
	if err != nil || once == 0 {
		t.Fatalf("SizeOf = %d, %v", once, err)
	}
	if twice, err := r.SizeOf(t.Context(), []Lane{l, l}); err != nil || twice != once {
		t.Errorf("SizeOf of the same lane twice = %d, %v; want %d", twice, err, once)
	}
	kinds := map[string]int{}
	if err := r.RecordsOf(t.Context(), l, func(rec Record) { kinds[rec.Kind]++ }); err != nil || kinds["set"] != 1 || kinds["device"] != 1 {
		t.Errorf("RecordsOf = %v, %v", kinds, err)
	}
	if err := r.RecordsOf(t.Context(), Lane{Project: testProject, Device: l.Device, Tip: pack.ID{1}}, func(Record) {}); err == nil {
		t.Error("RecordsOf of a lane that is not there succeeds")
	}
}

// TestDropDevice removes the lanes of a device on both sides, and no other ones.
func TestDropDevice(t *testing.T) {
	t.Parallel()
	r, other := newRepo(t), newRepo(t)
	mine := note(t, r, testProject, "mine")
	l, second := note(t, other, testProject, "theirs"), note(t, other, "00000000000000bb", "theirs")
	second.Outside = true
	bring(t, r, other, l)
	bring(t, r, other, second)
	for range 2 { // it can be repeated
		if err := r.DropDevice(t.Context(), l.Device); err != nil {
			t.Fatal(err)
		}
		if got := devicesOf(t, r, testProject); len(got) != 1 || got[0] != r.device.ID {
			t.Errorf("a transaction sees the lanes of %v", got)
		}
		if outside, err := r.Outside(); err != nil || len(outside) > 0 {
			t.Errorf("outside are %v, %v", outside, err)
		}
	}
	if err := errors.Join(r.Sweep(t.Context()), r.Close()); err != nil { // closed, it reads the removed packs no more
		t.Fatal(err)
	}
	for _, gone := range []Lane{l, second} {
		if has, err := r.memory.Has(gone.Tip); has || err != nil {
			t.Errorf("after a sweep the lane is still stored: %v, %v", has, err)
		}
	}
	if now := ownLane(t, r, testProject); now != mine {
		t.Errorf("this device's lane is %+v, want %+v", now, mine)
	}
}

// TestCheckClock refuses this device's lane when its Lamport time is one that no other store accepts.
func TestCheckClock(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	l := note(t, r, testProject, "1")
	if err := r.CheckClock(l); err != nil {
		t.Errorf("CheckClock = %v", err)
	}
	if err := r.Update(t.Context(), testProject, "ahead", func(tx *Tx) error {
		tx.lamport = lane.LamportBound(r.opts.Now()) + 1
		_, err := tx.Add("set", map[string]string{"a": "b"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := r.CheckClock(l); !errors.Is(err, ErrAhead) || !strings.Contains(err.Error(), string(testProject)) {
		t.Errorf("CheckClock = %v, want ErrAhead with the project", err)
	}
	if err := r.CheckClock(Lane{Project: "00000000000000cc", Device: r.device.ID}); err != nil {
		t.Errorf("CheckClock of no lane = %v", err)
	}
}
