package sync_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/state"
	syncing "github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/refs/remote"
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
	h := layerstest.NewHub(t, kind)
	m := h.Memory(t, "laptop")
	layerstest.Add(t, m, layerstest.Session(t, "s1", "/home/dev/shop", 30))
	layerstest.Add(t, m, layerstest.Session(t, "s2", "/home/dev/shop", 3))
	layerstest.PushAll(t, m)
	file := filepath.Join(m.Refs.Dir(), "remotes.json")
	marks, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	layerstest.Add(t, m, layerstest.Session(t, "s1", "/home/dev/shop", 40))
	if forgets {
		layerstest.ForgetText(t, m, forget.ForgetOptions{Revs: []state.Rev{layerstest.RevOf(t, m, "s2")}})
	}
	layerstest.PushAll(t, m)
	if err := os.WriteFile(file, marks, 0o600); err != nil {
		t.Fatal(err)
	}
	layerstest.Add(t, m, layerstest.Session(t, "s1", "/home/dev/shop", 50))
	if in := layerstest.FetchAll(t, m); len(in.Lanes) != 1 || in.Lanes[0].Status != "ahead" {
		t.Errorf("fetch: %+v, want a lane that is ahead", in.Lanes)
	}
	if out := layerstest.PushAll(t, m); out.Lanes[0].Restored {
		t.Errorf("push: %+v, want nothing restored", out.Lanes[0])
	}
}

// hubs are the ways to reach a remote.
func hubs() []string { return []string{"dir", "http", "ssh"} }

// dirHubs are a directory, and one that is an encrypted remote.
func dirHubs() []string { return []string{"dir", "sealed dir"} }

// TestTravel sends memory from one device to another and back over each kind of server. Both end with the same
// hash, and git finds nothing wrong with what is between them.
func TestTravel(t *testing.T) {
	t.Parallel()
	for _, kind := range append(hubs(), "sealed dir", "sealed http", "sealed ssh") {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := layerstest.NewHub(t, kind)
			a, b := h.Memory(t, "laptop"), h.Memory(t, "desk")
			layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 40), layerstest.Session(t, "s2", "/home/dev/blog", 5))
			if out := layerstest.PushAll(t, a); out.Objects == 0 || len(out.Lanes) != 2 {
				t.Errorf("push: %+v", out)
			}
			if out := layerstest.PushAll(t, a); out.Objects != 0 {
				t.Errorf("a second push sent %d objects", out.Objects)
			}
			in := layerstest.FetchAll(t, b)
			if len(in.Lanes) != 2 || len(in.Devices) != 1 || in.Devices[0].Name != "laptop" || in.Devices[0].Trusted {
				t.Errorf("fetch: %+v", in)
			}
			if layerstest.Roots(t, a) != layerstest.Roots(t, b) {
				t.Error("other roots after the first fetch")
			}
			layerstest.Add(t, b, layerstest.Session(t, "s3", "/home/dev/shop", 7))
			layerstest.PushAll(t, b)
			layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 60)) // meanwhile the first one grows
			layerstest.PushAll(t, a)
			layerstest.FetchAll(t, a)
			layerstest.FetchAll(t, b)
			if ra, rb := layerstest.Roots(t, a), layerstest.Roots(t, b); ra != rb {
				t.Errorf("other roots:\n%s\n%s", ra, rb)
			}
			if in := layerstest.FetchAll(t, b); len(in.Lanes) != 0 || in.Objects != 0 {
				t.Errorf("nothing new, but %+v", in)
			}
			layerstest.GitRun(t, h.Dir, "fsck", "--strict", "--full")
		})
	}
}

// TestFetchDeltas fetches what git has packed anew, with differences.
func TestFetchDeltas(t *testing.T) {
	t.Parallel()
	for _, kind := range hubs() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := layerstest.NewHub(t, kind)
			a, b := h.Memory(t, "laptop"), h.Memory(t, "desk")
			for i := range 30 {
				layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 10*i+1))
			}
			layerstest.PushAll(t, a)
			layerstest.GitRun(t, h.Dir, "-c", "pack.window=20", "repack", "-a", "-d", "-f", "--depth=50")
			if out := layerstest.GitRun(t, h.Dir, "verify-pack", "-v", strings.TrimSpace(layerstest.GitRun(t, h.Dir, "rev-parse", "--git-path", "objects/pack"))+"/"+onlyPack(t, h.Dir)); !strings.Contains(out, "chain length") {
				t.Fatal("git made no differences")
			}
			layerstest.FetchAll(t, b)
			if layerstest.Roots(t, a) != layerstest.Roots(t, b) {
				t.Error("other roots")
			}
		})
	}
}

func onlyPack(t *testing.T, dir string) string {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("packs %v, %v", packs, err)
	}
	return filepath.Base(packs[0])
}

// TestAuthentication looks at what a server does not let in, or lets everybody in.
func TestAuthentication(t *testing.T) {
	t.Parallel()
	h := layerstest.NewHub(t, "http")
	m := h.Memory(t, "laptop")
	layerstest.Add(t, m, layerstest.Session(t, "s1", "/home/dev/shop", 3))
	h.Login(t, "wrong")
	if _, err := layerstest.TryPush(t, m); !errors.Is(err, remote.ErrAuth) {
		t.Errorf("push with a wrong password: %v, want ErrAuth", err)
	}
	h.User = "" // now anybody may read
	if _, err := layerstest.TryPush(t, m); !errors.Is(err, syncing.ErrPublic) {
		t.Errorf("push to a public repository: %v, want ErrPublic", err)
	}
	if refs := layerstest.GitRun(t, h.Dir, "for-each-ref"); refs != "" {
		t.Errorf("it has arrived: %s", refs)
	}
	h.User = "me"
	h.Login(t, "s3cret")
	layerstest.PushAll(t, m)
	b, err := os.ReadFile(filepath.Join(m.Refs.Dir(), "remotes.json"))
	if err != nil || strings.Contains(string(b), "s3cret") {
		t.Errorf("remotes.json: %v %s", err, b)
	}
}
