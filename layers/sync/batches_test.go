package sync_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	mrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/state"
	syncing "github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs/remote"
)

// A computer is a memory on a machine that is offline at times and has a wrong clock, and what it has acknowledged.
type computer struct {
	t       *testing.T
	h       *layerstest.Hub
	name    string
	m       *layers.Memory
	mu      sync.Mutex
	clock   time.Time      // guarded by mu while work is under way
	offline int            // for so many operations
	acked   map[string]int // session -> lines
	backup  string
	then    map[string]int // what the backup holds
}

func newComputer(t *testing.T, h *layerstest.Hub, name string) *computer {
	c := &computer{t: t, h: h, name: name, clock: time.Date(2026, 1, 20, 14, 0, 0, 0, time.UTC), acked: map[string]int{}}
	m, err := layers.Init(t.Context(), filepath.Join(t.TempDir(), "memory"), name, c.options())
	if err != nil {
		t.Fatal(err)
	}
	c.m = m
	t.Cleanup(func() { c.m.Close() })
	u, _, err := remote.ParseURL(h.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := syncing.AddRemote(t.Context(), m.DB, "origin", u); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *computer) options() state.Options {
	o := layerstest.TestOptions()
	o.World = c.h.World()
	o.Now = c.now
	return o
}

// now is a second later every time. Workers ask for it too.
func (c *computer) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock = c.clock.Add(time.Second)
	return c.clock
}

// save copies the store, as a backup does.
func (c *computer) save() {
	c.t.Helper()
	c.backup, c.then = filepath.Join(c.t.TempDir(), "backup"), maps.Clone(c.acked)
	if out, err := exec.Command("cp", "-a", c.m.Refs.Dir(), c.backup).CombinedOutput(); err != nil {
		c.t.Fatalf("cp: %v %s", err, out)
	}
}

// restore loses the disk and goes on from the backup.
func (c *computer) restore() {
	c.t.Helper()
	dir := c.m.Refs.Dir()
	if err := errors.Join(c.m.Close(), os.RemoveAll(dir), os.Rename(c.backup, dir)); err != nil {
		c.t.Fatal(err)
	}
	m, err := layers.Open(dir, c.options())
	if err != nil {
		c.t.Fatal(err)
	}
	c.m, c.acked, c.backup = m, maps.Clone(c.then), ""
}

// add adds or grows a session, of the machine or one that all work on.
func (c *computer) add(rng *mrand.Rand) {
	id := fmt.Sprintf("%s-%d", c.name, rng.IntN(2))
	if rng.IntN(3) == 0 {
		id = fmt.Sprintf("all-%d", rng.IntN(2))
	}
	n := c.acked[id] + 1 + rng.IntN(5)
	layerstest.Add(c.t, c.m, layerstest.Session(c.t, id, []string{"/home/dev/shop", "/home/dev/blog"}[int(id[len(id)-1])%2], n))
	c.acked[id] = n
}

// trustAll trusts every device that is here.
func (c *computer) trustAll() {
	c.t.Helper()
	known, err := trust.Devices(c.t.Context(), c.m.DB)
	for _, d := range known {
		if err == nil && !d.Own {
			err = trust.TrustDevice(c.t.Context(), c.m.DB, d, true)
		}
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// derive compresses a session or takes it out of the lists.
func (c *computer) derive(rng *mrand.Rand) {
	projects, err := trust.Projects(c.t.Context(), c.m.DB)
	if err != nil || len(projects) == 0 {
		return
	}
	p := projects[rng.IntN(len(projects))]
	st, err := trust.State(c.t.Context(), c.m.DB, p.ID)
	if err != nil {
		c.t.Fatal(err)
	}
	if len(st.Sessions) == 0 {
		return
	}
	rev := state.Rev{Kind: state.IsSession, Project: p, Session: st.Sessions[rng.IntN(len(st.Sessions))]}
	if rng.IntN(3) == 0 {
		err = derive.Remove(c.t.Context(), c.m.DB, rev, true, false)
	} else {
		_, err = derive.Compress(c.t.Context(), c.m.DB, rev, planning.Settings{Tokens: 100 + rng.IntN(300)}, false)
	}
	var behind *originals.BehindError
	if err != nil && !errors.As(err, &behind) && !errors.Is(err, compress.ErrTooSmall) {
		c.t.Fatal(err)
	}
}

// holds checks that everything that any of all has acknowledged is there.
func (c *computer) holds(all map[string]int, what string) {
	c.t.Helper()
	have := map[string]int{}
	projects, err := trust.Projects(context.Background(), c.m.DB)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, p := range projects {
		st, err := trust.State(context.Background(), c.m.DB, p.ID)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, s := range st.Sessions {
			have[s.ID] = s.Now().Scan.Values
		}
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if have[id] < all[id] {
			c.t.Errorf("%s: %s has %d lines of %s, %d were acknowledged", what, c.name, have[id], id, all[id])
		}
	}
}

// TestThreeMachines lets three machines and one remote work at random, with phases offline, clocks that jump by up to ten years,
// and one of them restored from an old backup. When all have talked to the remote in the end they have the same hash, and
// everything that was acknowledged and not lost with a disk before it was pushed.
func TestThreeMachines(t *testing.T) {
	t.Parallel()
	from := layerstest.FirstSeed(t)
	for i := range layerstest.Tiered(t, 2, 12, 1000) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			threeMachines(t, from+uint64(i))
		})
	}
}

func threeMachines(t *testing.T, seed uint64) {
	h := layerstest.NewHub(t, "dir")
	rng := mrand.New(mrand.NewPCG(seed, 9))
	all := []*computer{newComputer(t, h, "m0"), newComputer(t, h, "m1"), newComputer(t, h, "m2")}
	pushed := map[string]int{}
	push := func(c *computer) {
		settle(t, c.m)
		for id, n := range c.acked {
			pushed[id] = max(pushed[id], n)
		}
	}
	const operations = 36
	saved := rng.IntN(operations / 2)
	lost := saved + 1 + rng.IntN(operations/2)
	unlucky := all[rng.IntN(len(all))]
	for i := range operations {
		c := all[rng.IntN(len(all))]
		switch {
		case i == saved:
			unlucky.save()
			continue
		case i == lost:
			unlucky.restore()
			continue
		}
		c.offline = max(0, c.offline-1)
		switch k := rng.IntN(12); {
		case k < 4:
			c.add(rng)
		case k < 6:
			c.derive(rng)
		case k == 6:
			c.clock = c.clock.AddDate(rng.IntN(21)-10, 0, rng.IntN(300))
		case k == 7:
			c.offline = 1 + rng.IntN(6)
		case c.offline > 0:
		case k < 10:
			push(c)
		default:
			fetchSettled(t, c.m)
		}
	}
	for range 3 {
		for _, c := range all {
			push(c)
		}
		for _, c := range all {
			fetchSettled(t, c.m)
		}
	}
	want := layerstest.Roots(t, all[0].m)
	for _, c := range all {
		c.trustAll() // else a session of several machines is as far as this one has it
		c.holds(pushed, fmt.Sprintf("history %d", seed))
		if got := layerstest.Roots(t, c.m); got != want {
			t.Errorf("history %d: %s:\n%s\nwant:\n%s", seed, c.name, got, want)
		}
	}
	layerstest.GitRun(t, h.Dir, "fsck", "--strict", "--full")
}

// TestParts pushes more than is sent at once: what has arrived in a part is not sent once more after the push broke off.
func TestParts(t *testing.T) {
	t.Parallel()
	h := layerstest.NewHub(t, "ssh")
	layerstest.GitRun(t, h.Dir, "config", "receive.unpackLimit", "1")
	w := newWire(t, h)
	w.cut(-1, -1)
	a := h.Memory(t, "laptop")
	const part = 256 << 10
	a.Opts.PushBytes = part
	grow := func(ids ...string) {
		for _, id := range ids {
			layerstest.Add(t, a, noise(t, id, part*3/4))
		}
	}
	packs := func() int {
		all, err := filepath.Glob(filepath.Join(h.Dir, "objects", "pack", "*.pack"))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	push := func(what string, want int) {
		t.Helper()
		before := packs()
		layerstest.PushAll(t, a)
		if got := packs() - before; got != want {
			t.Errorf("%s: %d packs, want %d", what, got, want)
		}
	}
	grow("s0", "s1", "s2")
	push("the first push", 2)
	grow("t0", "t1", "t2", "t3", "t4", "t5", "t6")
	w.cut(part*2, -1)
	_, err := layerstest.TryPush(t, a)
	complains(t, "a push that was cut", err, false)
	w.cut(part*2, -1)
	_, err = layerstest.TryPush(t, a)
	complains(t, "its second try", err, false)
	w.cut(-1, -1)
	before := w.sentUp.Load()
	push("its third try", 2)
	if sent := w.sentUp.Load() - before; sent > part*5/2 {
		t.Errorf("the third try sent %d bytes: what had arrived too", sent)
	}
	grow("u0", "u1", "u2")
	push("a push after it", 2)
	b := h.Memory(t, "desk")
	layerstest.FetchAll(t, b)
	if layerstest.Roots(t, a) != layerstest.Roots(t, b) {
		t.Error("other roots in the end")
	}
}
