package sync_test

import (
	"context"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/remote"
)

// settle pushes, and becomes a new device first if the remote has other memory of this one.
func settle(t testing.TB, m *layers.Memory) {
	t.Helper()
	for range 3 {
		_, err := layerstest.TryPush(t, m)
		var twin *sync.DivergedError
		if !errors.As(err, &twin) {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		if err := sync.Split(context.Background(), m.DB, layerstest.Origin(t, m), twin.Own); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("it diverges again and again")
}

// fetchSettled fetches, and becomes a new device if the remote has other memory of this one.
func fetchSettled(t testing.TB, m *layers.Memory) {
	t.Helper()
	if out := layerstest.FetchAll(t, m); out.Twin {
		if err := sync.Split(context.Background(), m.DB, layerstest.Origin(t, m), true); err != nil {
			t.Fatal(err)
		}
	}
}

func sessionsOf(t testing.TB, m *layers.Memory, p refs.Project) []string {
	t.Helper()
	st, err := trust.Outline(context.Background(), m.DB, p)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range st.Sessions {
		if !s.Deleted {
			out = append(out, fmt.Sprintf("%s:%d", s.ID, s.Now().Size))
		}
	}
	for _, v := range st.Versions {
		if !v.Deleted {
			out = append(out, v.Session+":"+v.Derivation.Output.Short())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func compressSession(t testing.TB, m *layers.Memory, p refs.Project, id string) {
	t.Helper()
	st, err := trust.State(context.Background(), m.DB, p)
	if err != nil {
		t.Fatal(err)
	}
	s := st.Session(id)
	if s == nil {
		t.Fatalf("no session %s", id)
	}
	_, err = derive.Compress(context.Background(), m.DB, state.Rev{Kind: state.IsSession, Project: state.Project{ID: p, Name: st.Name, Identity: st.Identity}, Session: s}, planning.Settings{Tokens: 200}, false)
	if err != nil {
		t.Fatal(err)
	}
}

// TestClonedHome lets two copies of one store go on, each adding, growing and removing. The second to push becomes a new device;
// nothing that either had is lost, and both end with the same hash.
func TestClonedHome(t *testing.T) {
	t.Parallel()
	for _, kind := range dirHubs() {
		t.Run(kind, func(t *testing.T) { testClonedHome(t, kind) })
	}
}

func testClonedHome(t *testing.T, kind string) {
	t.Parallel()
	for _, pushed := range []bool{true, false} {
		t.Run(fmt.Sprint("pushed before: ", pushed), func(t *testing.T) {
			t.Parallel()
			h := layerstest.NewHub(t, kind)
			a := h.Memory(t, "laptop")
			p := layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 30))[0].Project.ID
			if pushed {
				layerstest.PushAll(t, a)
			}
			b := h.CopyOf(t, a)
			layerstest.Add(t, a, layerstest.Session(t, "s2", "/home/dev/shop", 10), layerstest.Session(t, "s1", "/home/dev/shop", 50))
			layerstest.Add(t, b, layerstest.Session(t, "s3", "/home/dev/shop", 12), layerstest.Session(t, "s1", "/home/dev/shop", 40))
			layerstest.Add(t, b, layerstest.Session(t, "s4", "/home/dev/other", 12))
			compressSession(t, b, p, "s3")
			settle(t, a)
			was := b.Refs.Device().ID
			settle(t, b)
			if b.Refs.Device().ID == was || b.Refs.Device().Name != "laptop-2" {
				t.Errorf("the copy is still %+v", b.Refs.Device())
			}
			layerstest.FetchAll(t, a)
			layerstest.FetchAll(t, b)
			if ra, rb := layerstest.Roots(t, a), layerstest.Roots(t, b); ra != rb {
				t.Errorf("other roots:\n%s\n%s", ra, rb)
			}
			got := strings.Join(sessionsOf(t, a, p), " ")
			for _, want := range []string{"s1:", "s2:", "s3:"} {
				if !strings.Contains(got, want) {
					t.Errorf("of %q, %q is lost", got, want)
				}
			}
			if n := len(sessionsOf(t, a, p)); n != 4 {
				t.Errorf("%d sessions and versions, want 3 and 1: %s", n, got)
			}
			layerstest.GitRun(t, h.Dir, "fsck", "--strict", "--full")
			// And both go on.
			layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 60))
			layerstest.Add(t, b, layerstest.Session(t, "s3", "/home/dev/shop", 20))
			settle(t, b)
			settle(t, a)
			layerstest.FetchAll(t, a)
			layerstest.FetchAll(t, b)
			if layerstest.Roots(t, a) != layerstest.Roots(t, b) {
				t.Error("other roots after both went on")
			}
		})
	}
}

// TestOldBackup restores a store from a backup made before it pushed more.
func TestOldBackup(t *testing.T) {
	t.Parallel()
	for _, kind := range dirHubs() {
		t.Run(kind, func(t *testing.T) { testOldBackup(t, kind) })
	}
}

func testOldBackup(t *testing.T, kind string) {
	t.Parallel()
	h := layerstest.NewHub(t, kind)
	a := h.Memory(t, "laptop")
	p := layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 30))[0].Project.ID
	layerstest.PushAll(t, a)
	old := h.CopyOf(t, a)
	layerstest.Add(t, a, layerstest.Session(t, "s2", "/home/dev/shop", 10))
	layerstest.PushAll(t, a)
	want := layerstest.Roots(t, a)
	fetchSettled(t, old)
	if got := layerstest.Roots(t, old); got != want {
		t.Errorf("roots of the restored store:\n%s\nwant:\n%s", got, want)
	}
	layerstest.Add(t, old, layerstest.Session(t, "s3", "/home/dev/shop", 5))
	settle(t, old)
	if n := len(sessionsOf(t, old, p)); n != 3 {
		t.Errorf("%d sessions, want 3", n)
	}
}

// TestOldBackupForgets restores a store from before something was forgotten and goes on with it, for as long as what it was
// restored from did or not: what was forgotten goes, and nothing else.
func TestOldBackupForgets(t *testing.T) {
	t.Parallel()
	for _, kind := range dirHubs() {
		for _, more := range []int{0, 3} {
			t.Run(fmt.Sprintf("%s, %d more", kind, more), func(t *testing.T) {
				t.Parallel()
				h := layerstest.NewHub(t, kind)
				a := h.Memory(t, "laptop")
				p := layerstest.Add(t, a, layerstest.Write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), layerstest.UserLine(1, "call me zaphod")+layerstest.UserLine(2, "and go on")), layerstest.Session(t, "bbbb0002", "/home/dev/shop", 5))[0].Project.ID
				layerstest.PushAll(t, a)
				old := h.CopyOf(t, a)
				for i := range more {
					layerstest.Add(t, a, layerstest.Session(t, fmt.Sprintf("cccc000%d", i), "/home/dev/shop", 5))
				}
				layerstest.ForgetText(t, a, forget.ForgetOptions{Match: regexp.MustCompile("zaphod")})
				layerstest.PushAll(t, a)
				layerstest.Add(t, old, layerstest.Session(t, "dddd0004", "/home/dev/shop", 5))
				settle(t, old)
				if n := len(sessionsOf(t, old, p)); n != 3+more {
					t.Errorf("%d sessions, want %d", n, 3+more)
				}
				c := h.Memory(t, "new")
				layerstest.FetchAll(t, c)
				if n := len(sessionsOf(t, c, p)); n != 3+more {
					t.Errorf("%d sessions on a new device, want %d", n, 3+more)
				}
				if found := layerstest.Stays(t, "zaphod", []*layers.Memory{a, old, c}, h.Dir); len(found) > 0 {
					t.Errorf("it stays in %v", found)
				}
				if ro, rc := layerstest.Roots(t, old), layerstest.Roots(t, c); ro != rc {
					t.Errorf("other roots:\n%s\n%s", ro, rc)
				}
			})
		}
	}
}

// TestRolledBack looks at remotes that show less than before: each is noticed, nothing here is lost, and what is this device's is
// sent again.
func TestRolledBack(t *testing.T) {
	t.Parallel()
	for _, kind := range dirHubs() {
		t.Run(kind, func(t *testing.T) { testRolledBack(t, kind) })
	}
}

func testRolledBack(t *testing.T, kind string) {
	t.Parallel()
	h := layerstest.NewHub(t, kind)
	a, b := h.Memory(t, "laptop"), h.Memory(t, "desk")
	layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 30))
	layerstest.PushAll(t, a)
	kept := filepath.Join(t.TempDir(), "kept")
	if out, err := exec.Command("cp", "-a", h.Dir, kept).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v %s", err, out)
	}
	layerstest.Add(t, a, layerstest.Session(t, "s2", "/home/dev/shop", 30))
	layerstest.PushAll(t, a)
	layerstest.FetchAll(t, b)
	want := layerstest.Roots(t, b)
	replace := func(from string) {
		if err := os.RemoveAll(h.Dir); err != nil {
			t.Fatal(err)
		}
		if from == "" {
			layerstest.GitRun(t, "", "init", "-q", "--bare", h.Dir)
		} else if out, err := exec.Command("cp", "-a", from, h.Dir).CombinedOutput(); err != nil {
			t.Fatalf("cp: %v %s", err, out)
		}
	}
	status := func(m *layers.Memory) string {
		out := layerstest.FetchAll(t, m)
		if len(out.Lanes) != 1 {
			t.Fatalf("lanes: %+v", out.Lanes)
		}
		return out.Lanes[0].Status
	}
	replace(kept)
	if got := status(b); got != "behind" {
		t.Errorf("a remote that was rolled back: %s", got)
	}
	if got := status(a); got != "behind" {
		t.Errorf("a remote that was rolled back, to its owner: %s", got)
	}
	if out := layerstest.PushAll(t, a); !out.Lanes[0].Restored {
		t.Errorf("push to a remote that was rolled back: %+v", out.Lanes[0])
	}
	replace("")
	if got := status(b); got != "missing" {
		t.Errorf("a remote that was made anew: %s", got)
	}
	if out := layerstest.PushAll(t, a); !out.Lanes[0].Restored {
		t.Errorf("push to a remote that was made anew: %+v", out.Lanes[0])
	}
	if in := layerstest.FetchAll(t, b); len(in.Lanes) != 0 {
		t.Errorf("after it was healed: %+v", in.Lanes)
	}
	if layerstest.Roots(t, b) != want {
		t.Error("something changed here")
	}
}

// TestManyMachines lets devices add, grow, compress, remove, push and fetch at random over an encrypted remote. When all have talked
// to it in the end, all have the same hash. TestThreeMachines does so over a plain one.
func TestManyMachines(t *testing.T) {
	t.Parallel()
	runs := 4
	if testing.Short() {
		runs = 1
	}
	for seed := range runs {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := layerstest.NewHub(t, "sealed dir")
			rng := mrand.New(mrand.NewPCG(uint64(seed), 5))
			ms := []*layers.Memory{h.Memory(t, "m0"), h.Memory(t, "m1"), h.Memory(t, "m2")}
			sizes := map[string]int{}
			for i := range 60 {
				m := ms[rng.IntN(len(ms))]
				switch rng.IntN(8) {
				case 0, 1, 2:
					id := fmt.Sprintf("s%d", rng.IntN(6))
					sizes[id] += 1 + rng.IntN(5)
					layerstest.Add(t, m, layerstest.Session(t, id, []string{"/home/dev/shop", "/home/dev/blog"}[id[1]%2], sizes[id]))
				case 3, 4:
					settle(t, m)
				case 5, 6:
					fetchSettled(t, m)
				case 7:
					if i == 20+seed && len(ms) < 4 {
						ms = append(ms, h.CopyOf(t, m))
					}
				}
			}
			for range 3 {
				for _, m := range ms {
					settle(t, m)
				}
				for _, m := range ms {
					fetchSettled(t, m)
				}
			}
			want := layerstest.Roots(t, ms[0])
			for i, m := range ms[1:] {
				if got := layerstest.Roots(t, m); got != want {
					t.Errorf("machine %d:\n%s\nwant:\n%s", i+1, got, want)
				}
			}
		})
	}
}

// TestSeenAlready notices that a remote was rolled back from which nothing ever came: what it had was here already.
func TestSeenAlready(t *testing.T) {
	t.Parallel()
	h := layerstest.NewHub(t, "dir")
	a, b := h.Memory(t, "laptop"), h.Memory(t, "desk")
	layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 30))
	layerstest.PushAll(t, a)
	kept := filepath.Join(t.TempDir(), "kept")
	if err := os.CopyFS(kept, os.DirFS(h.Dir)); err != nil {
		t.Fatal(err)
	}
	layerstest.Add(t, a, layerstest.Session(t, "s2", "/home/dev/shop", 30))
	layerstest.PushAll(t, a)
	layerstest.FetchAll(t, b)
	ctx := t.Context()
	if err := sync.RemoveRemote(ctx, b.DB, "origin"); err != nil {
		t.Fatal(err)
	}
	u, _, err := remote.ParseURL(h.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sync.AddRemote(ctx, b.DB, "origin", u); err != nil {
		t.Fatal(err)
	}
	if got := layerstest.FetchAll(t, b); len(got.Lanes) != 0 {
		t.Fatalf("nothing new: %+v", got.Lanes)
	}
	if err := os.RemoveAll(h.Dir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(h.Dir, os.DirFS(kept)); err != nil {
		t.Fatal(err)
	}
	if got := layerstest.FetchAll(t, b); len(got.Lanes) != 1 || got.Lanes[0].Status != "behind" {
		t.Errorf("rolled back: %+v", got.Lanes)
	}
}
