package layers

import (
	"path/filepath"
	"testing"
)

// TestParcels pushes more than a parcel: all at once, so that a server has one pack of it; in parcels after that broke off, until
// they have gone through. What has arrived in a parcel is not sent once more.
func TestParcels(t *testing.T) {
	t.Parallel()
	h := newHub(t, "ssh")
	gitRun(t, h.dir, "config", "receive.unpackLimit", "1")
	w := newWire(t, h)
	w.cut(-1, -1)
	a := h.memory(t, "laptop")
	const part = 1 << 20
	a.Parcels.Part = part
	grow := func(ids ...string) {
		for _, id := range ids {
			add(t, a, noise(t, id, part*3/4))
		}
	}
	packs := func() int {
		all, err := filepath.Glob(filepath.Join(h.dir, "objects", "pack", "*.pack"))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	push := func(what string, want int) {
		t.Helper()
		before := packs()
		pushAll(t, a)
		if got := packs() - before; got != want {
			t.Errorf("%s: %d packs, want %d", what, got, want)
		}
	}
	grow("s0", "s1", "s2")
	push("the first push", 1)
	grow("t0", "t1", "t2", "t3", "t4")
	w.cut(part*2, -1)
	_, err := tryPush(t, a)
	complains(t, "a push that was cut", err, false)
	w.cut(part*2, -1)
	_, err = tryPush(t, a)
	complains(t, "its second try", err, false)
	w.cut(-1, -1)
	before := w.sentUp.Load()
	push("its third try", 2)
	if sent := w.sentUp.Load() - before; sent > part*5/2 {
		t.Errorf("the third try sent %d bytes: what had arrived too", sent)
	}
	grow("u0", "u1", "u2")
	push("a push after it", 1)
	b := h.memory(t, "desk")
	fetchAll(t, b)
	if roots(t, a) != roots(t, b) {
		t.Error("other roots in the end")
	}
}
