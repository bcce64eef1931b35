package sync_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/state"
	syncing "github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/refs/incoming"
)

// A wire is a TCP connection to a hub that can be cut after some bytes of either direction.
type wire struct {
	up, down         atomic.Int64 // how many bytes may still go to the hub, and come from it
	sentUp, sentDown atomic.Int64
	cutUp, cutDown   atomic.Bool // whether there is a limit
	to               string
}

// newWire lets the hub be reached over a wire from now on.
func newWire(t *testing.T, h *layerstest.Hub) *wire {
	u, err := url.Parse(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	w := &wire{to: u.Host}
	u.Host = l.Addr().String()
	h.URL = u.String()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(c)
		}
	}()
	return w
}

func (w *wire) carry(c net.Conn) {
	s, err := net.Dial("tcp", w.to)
	if err != nil {
		c.Close()
		return
	}
	var wait sync.WaitGroup
	wait.Go(func() { w.copy(s, c, &w.cutUp, &w.up, &w.sentUp) })
	wait.Go(func() { w.copy(c, s, &w.cutDown, &w.down, &w.sentDown) })
	wait.Wait()
}

// copy carries bytes until one side is done or the wire is cut; then both ends are closed.
func (w *wire) copy(to, from net.Conn, limited *atomic.Bool, left, sent *atomic.Int64) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 4<<10)
	for {
		n, err := from.Read(buf)
		if limited.Load() {
			n = int(max(0, min(int64(n), left.Add(-int64(n))+int64(n))))
		}
		sent.Add(int64(n))
		if _, werr := to.Write(buf[:n]); werr != nil || err != nil || limited.Load() && left.Load() <= 0 {
			return
		}
	}
}

// cut limits what goes over the wire; a negative number is no limit.
func (w *wire) cut(up, down int64) {
	w.up.Store(up)
	w.down.Store(down)
	w.cutUp.Store(up >= 0)
	w.cutDown.Store(down >= 0)
	w.sentUp.Store(0)
	w.sentDown.Store(0)
}

// noise writes a session that does not get smaller.
func noise(t *testing.T, id string, size int) capture.Source {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(id[0]), uint64(id[len(id)-1])))
	raw := make([]byte, 3000)
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		for j := range raw {
			raw[j] = byte(rng.Uint32())
		}
		fmt.Fprintf(&b, `{"type":"user","uuid":"%s-%d","timestamp":"2026-01-15T10:%02d:00Z","cwd":"/home/dev/shop","sessionId":%q,"message":{"role":"user","content":"%s"}}`+"\n",
			id, i, i%60, id, base64.StdEncoding.EncodeToString(raw))
	}
	return layerstest.Write(t, filepath.Join(t.TempDir(), id+".jsonl"), b.String())
}

const dropBytes = 150_000

// TestDropped cuts connections in the middle of pushes, fetches and first fetches. Each time there is an error that says something,
// nothing half is taken over on either side, and the next try does the rest.
func TestDropped(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"http", "ssh"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := layerstest.NewHub(t, kind)
			if kind == "http" {
				h.Login(t, "s3cret")
			}
			w := newWire(t, h)
			w.cut(-1, -1)
			a, b := h.Memory(t, "laptop"), h.Memory(t, "desk")
			layerstest.Add(t, a, noise(t, "s0", dropBytes))
			layerstest.PushAll(t, a)
			up, upBack := w.sentUp.Load(), w.sentDown.Load()
			w.cut(-1, -1)
			layerstest.FetchAll(t, b)
			downAsk, down := w.sentUp.Load(), w.sentDown.Load()
			for i, c := range [][2]int64{{up / 2, -1}, {-1, upBack / 3}, {-1, upBack * 9 / 10}} {
				layerstest.Add(t, a, noise(t, fmt.Sprintf("p%d", i), dropBytes))
				w.cut(c[0], c[1])
				_, err := layerstest.TryPush(t, a)
				w.cut(-1, -1)
				complains(t, fmt.Sprintf("push cut after %d", c), err, false)
				layerstest.GitRun(t, h.Dir, "fsck", "--full", "--strict")
				layerstest.PushAll(t, a)
			}
			for i, c := range [][2]int64{{downAsk / 2, -1}, {-1, down / 2}, {-1, down * 9 / 10}} {
				layerstest.Add(t, a, noise(t, fmt.Sprintf("f%d", i), dropBytes))
				layerstest.PushAll(t, a)
				before := layerstest.Roots(t, b)
				w.cut(c[0], c[1])
				_, err := syncing.Fetch(context.Background(), b.DB, syncing.FetchOptions{Remote: layerstest.Origin(t, b)})
				w.cut(-1, -1)
				complains(t, fmt.Sprintf("fetch cut after %d", c), err, true)
				if layerstest.Roots(t, b) != before {
					t.Errorf("fetch cut after %d: something was taken over", c)
				}
				noLeftovers(t, b)
				layerstest.FetchAll(t, b)
			}
			c := h.Memory(t, "new") // a clone
			w.cut(-1, 2*dropBytes)
			_, err := syncing.Fetch(context.Background(), c.DB, syncing.FetchOptions{Remote: layerstest.Origin(t, c)})
			w.cut(-1, -1)
			complains(t, "clone", err, true)
			noLeftovers(t, c)
			if lanes, err := c.Refs.Lanes(); err != nil || len(lanes) > 0 {
				t.Errorf("clone cut: %d lanes, %v", len(lanes), err)
			}
			layerstest.FetchAll(t, c)
			if ra := layerstest.Roots(t, a); ra != layerstest.Roots(t, b) || ra != layerstest.Roots(t, c) {
				t.Error("other roots in the end")
			}
		})
	}
}

// complains makes sure that an error is there and says something.
func complains(t *testing.T, what string, err error, fetch bool) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("%s: no error", what)
	case len(err.Error()) < 30 || errors.Is(err, context.Canceled):
		t.Errorf("%s: %v", what, err)
	case fetch && errors.Is(err, incoming.ErrRefused):
		t.Errorf("%s: the lane is blamed: %v", what, err)
	default:
		t.Logf("%s: %v", what, err)
	}
}

// noLeftovers makes sure that nothing is left of a fetch that failed.
func noLeftovers(t *testing.T, m *layers.Memory) {
	t.Helper()
	err := filepath.WalkDir(m.Refs.Dir(), func(path string, d fs.DirEntry, err error) error {
		if name := filepath.Base(path); strings.HasSuffix(path, "scratch/fetch.git") || strings.Contains(name, "tmp") {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDroppedDir stops copies to and from a directory in the middle, and copies from one whose pack is torn.
func TestDroppedDir(t *testing.T) {
	t.Parallel()
	h := layerstest.NewHub(t, "dir")
	a, b := h.Memory(t, "laptop"), h.Memory(t, "desk")
	p := layerstest.Add(t, a, noise(t, "s1", dropBytes), noise(t, "s2", dropBytes))[0].Project
	ctx, cancel := context.WithCancel(context.Background())
	_, err := syncing.Push(ctx, a.DB, syncing.PushOptions{Remote: layerstest.Origin(t, a), Projects: []state.Project{p}, Consent: layerstest.Yes, Progress: func(int64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a push that was stopped: %v", err)
	}
	if packs, err := filepath.Glob(filepath.Join(h.Dir, "objects", "pack", "*")); err != nil || len(packs) > 0 {
		t.Errorf("it left %v, %v", packs, err)
	}
	layerstest.PushAll(t, a)
	before := layerstest.Roots(t, b)
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	if _, err := syncing.Fetch(ctx, b.DB, syncing.FetchOptions{Remote: layerstest.Origin(t, b)}); !errors.Is(err, context.Canceled) {
		t.Errorf("a fetch that was stopped: %v", err)
	}
	noLeftovers(t, b)
	pack := filepath.Join(h.Dir, "objects", "pack", onlyPack(t, h.Dir))
	whole, err := os.ReadFile(pack)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 40, len(whole) / 2, len(whole) - 1} {
		if err := errors.Join(os.Chmod(pack, 0o600), os.WriteFile(pack, whole[:n], 0o600)); err != nil {
			t.Fatal(err)
		}
		_, err := syncing.Fetch(context.Background(), b.DB, syncing.FetchOptions{Remote: layerstest.Origin(t, b)})
		complains(t, fmt.Sprintf("a pack of %d of %d bytes", n, len(whole)), err, true)
		if layerstest.Roots(t, b) != before {
			t.Errorf("a pack of %d bytes: something was taken over", n)
		}
		noLeftovers(t, b)
	}
	if err := os.WriteFile(pack, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	layerstest.FetchAll(t, b)
	if layerstest.Roots(t, a) != layerstest.Roots(t, b) {
		t.Error("other roots in the end")
	}
}
