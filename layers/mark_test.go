package layers

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/state"
)

// TestKilledBeforeMark lets a push be taken by the remote without a mark of it here, as when it is killed just then, and goes
// on: neither fetching nor pushing calls that a remote that was rolled back.
func TestKilledBeforeMark(t *testing.T) {
	t.Parallel()
	for _, kind := range dirHubs() {
		t.Run(kind, func(t *testing.T) { testKilledBeforeMark(t, kind, false) })
		t.Run(kind+" that forgets", func(t *testing.T) { testKilledBeforeMark(t, kind, true) })
	}
}

func testKilledBeforeMark(t *testing.T, kind string, forgets bool) {
	t.Parallel()
	h := newHub(t, kind)
	m := h.memory(t, "laptop")
	add(t, m, session(t, "s1", "/home/dev/shop", 30))
	add(t, m, session(t, "s2", "/home/dev/shop", 3))
	pushAll(t, m)
	file := filepath.Join(m.Refs.Dir(), "remotes.json")
	marks, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	add(t, m, session(t, "s1", "/home/dev/shop", 40))
	if forgets {
		forgetText(t, m, forget.ForgetOptions{Revs: []state.Rev{revOf(t, m, "s2")}})
	}
	pushAll(t, m)
	if err := os.WriteFile(file, marks, 0o600); err != nil {
		t.Fatal(err)
	}
	add(t, m, session(t, "s1", "/home/dev/shop", 50))
	if in := fetchAll(t, m); len(in.Lanes) != 1 || in.Lanes[0].Status != "ahead" {
		t.Errorf("fetch: %+v, want a lane that is ahead", in.Lanes)
	}
	if out := pushAll(t, m); out.Lanes[0].Restored {
		t.Errorf("push: %+v, want nothing restored", out.Lanes[0])
	}
}
