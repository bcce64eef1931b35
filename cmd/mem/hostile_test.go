//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs/refstest"
)

const (
	hostileMemory = 256 << 20       // what mem may use, whatever a remote sends
	hostileHang   = 4 * time.Minute // that is no slowness
)

// A target is a memory that fetches from a remote which means it no good.
type target struct {
	t    testing.TB
	dir  string
	hub  string
	home string
}

// mem runs a command of the target. What takes for ever is ended.
func (g *target) mem(args ...string) (out string, code int, rss int64) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hostileHang)
	defer cancel()
	cmd := exec.CommandContext(ctx, "mem", args...)
	cmd.Env = append(os.Environ(), "MEM_DIR="+g.dir, "HOME="+g.home, "MEM_NOW=2026-01-20T14:00:00Z", "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1",
		"CLAUDE_CONFIG_DIR="+filepath.Join(g.home, ".claude"), "NO_COLOR=1")
	cmd.Dir = g.home
	cmd.WaitDelay = time.Minute
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err := cmd.Run()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		g.t.Fatalf("mem %v: %v", args, err)
	}
	if ctx.Err() != nil {
		g.t.Errorf("mem %v hangs: %s", args, b.String())
	}
	u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return b.String(), cmd.ProcessState.ExitCode(), resident(u)
}

func resident(u *syscall.Rusage) int64 {
	rss := u.Maxrss
	if runtime.GOOS != "darwin" {
		rss *= 1024 // Linux counts kilobytes
	}
	return rss
}

// ownPeak is the most memory that this process had, which Linux counts for its children, too.
func ownPeak(t testing.TB) int64 {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		t.Fatal(err)
	}
	return resident(&own)
}

func (g *target) ok(args ...string) string {
	g.t.Helper()
	out, code, _ := g.mem(args...)
	if code != 0 {
		g.t.Fatalf("mem %v: %d: %s", args, code, out)
	}
	return out
}

// state is everything in the store except the cache and the last seen state of remotes.
func (g *target) state() map[string]string {
	g.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(g.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(g.dir, path)
		switch {
		case err != nil:
			return err
		case rel == "cache":
			return filepath.SkipDir
		case d.IsDir():
			all[rel] = "directory"
			return nil
		case rel == "remotes.json", strings.HasSuffix(rel, ".lock"):
			return nil
		}
		b, err := os.ReadFile(path)
		all[rel] = fmt.Sprintf("%x", sha256.Sum256(b))
		return err
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return all
}

// A hostileWorld is the start of all cases: a remote with the lane of another device, whose key the attacker has, and memories
// that have fetched from it.
type hostileWorld struct {
	dir    string
	device string       // device.json of the attacker
	free   chan *target // those that no case is at
	ls     string       // what they list
	other  string       // a remote with the lane of a third device
}

func newHostileWorld(t *testing.T) *hostileWorld {
	t.Helper()
	w := &hostileWorld{dir: t.TempDir(), free: make(chan *target, runtime.GOMAXPROCS(0))}
	w.device = filepath.Join(w.dir, "attacker", "device.json")
	a := &target{t, filepath.Join(w.dir, "attacker"), filepath.Join(w.dir, "hub.git"), w.dir}
	for _, name := range []string{"objects/pack", "objects/info", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(a.hub, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"} {
		if err := os.WriteFile(filepath.Join(a.hub, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyPrivate(filepath.Join(w.dir, "empty.git"), a.hub); err != nil {
		t.Fatal(err)
	}
	a.ok("init")
	a.ok("remote", "add", "origin", a.hub)
	for i := range 2 {
		a.ok("add", w.session(t, fmt.Sprintf("attacker-%d", i), 30))
		a.ok("push", "--all", "--yes")
	}
	w.other = filepath.Join(w.dir, "other.git")
	if err := copyPrivate(w.other, filepath.Join(w.dir, "empty.git")); err != nil {
		t.Fatal(err)
	}
	c := &target{t, filepath.Join(w.dir, "colleague"), w.other, w.dir}
	c.ok("init")
	c.ok("remote", "add", "origin", c.hub)
	c.ok("add", w.session(t, "colleague", 30))
	c.ok("push", "--all", "--yes")
	for i := range cap(w.free) {
		w.free <- w.victim(t, filepath.Join(w.dir, fmt.Sprint(i), "shop"))
	}
	return w
}

// victim makes a memory that has fetched everything from the remote.
func (w *hostileWorld) victim(t *testing.T, dir string) *target {
	t.Helper()
	g := &target{t, filepath.Join(dir, "victim"), filepath.Join(dir, "hub.git"), dir}
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = copyPrivate(g.hub, filepath.Join(w.dir, "hub.git"))
	}
	if err != nil {
		t.Fatal(err)
	}
	g.ok("init")
	g.ok("add", w.session(t, "victim", 30))
	g.ok("remote", "add", "origin", g.hub)
	g.ok("fetch")
	g.ok("fsck", "--full")
	w.ls = g.ok("ls", "--json", "--all-projects")
	if err := copyPrivate(filepath.Join(dir, "before"), g.dir); err != nil {
		t.Fatal(err)
	}
	return g
}

// session writes a transcript.
func (w *hostileWorld) session(t testing.TB, id string, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"user","uuid":"%s-%d","timestamp":"2026-01-15T10:%02d:00Z","cwd":"/home/dev/shop","sessionId":%q,"message":{"role":"user","content":"message %d of %s"}}`+"\n", id, i, i%60, id, i, id)
	}
	name := filepath.Join(w.dir, id+".jsonl")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// target returns a memory, and the remote that is its own, as they were at first.
func (w *hostileWorld) target(t *testing.T) *target {
	t.Helper()
	g := <-w.free
	t.Cleanup(func() { w.free <- g })
	err := errors.Join(os.RemoveAll(g.dir), os.RemoveAll(g.hub))
	if err == nil {
		err = errors.Join(copyPrivate(g.dir, filepath.Join(g.home, "before")), copyPrivate(g.hub, filepath.Join(w.dir, "hub.git")))
	}
	if err != nil {
		t.Fatal(err)
	}
	return &target{t, g.dir, g.hub, g.home}
}

// copyPrivate copies a directory with the permissions of its files.
func copyPrivate(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Mkdir(filepath.Join(to, rel), 0o700)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o600)
	})
}

// TestHostileRemotes fetches from hostile remotes, as a user does. Nothing that they send is accepted or left behind, and the existing data
// is valid. In the cases with the code 0, mem never reads the hostile part.
func TestHostileRemotes(t *testing.T) {
	t.Parallel()
	w := newHostileWorld(t)
	t.Run("honest", func(t *testing.T) { // the forger can write what is taken
		g := w.target(t)
		f := newForger(t, g.hub, w.device)
		f.push(f.with(refstest.Fan("objects", b3sum("x"), ""), "x"))
		g.ok("fetch")
		g.trustAll()
		if got := g.ok("cat-file", "b3:"+b3sum("x")); got != "x" {
			t.Errorf("the object that came is %q", got)
		}
	})
	cases := hostileCases()
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name]
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			g := w.target(t)
			c.do(newForger(t, g.hub, w.device))
			g.refuses(w, c.code, c.want, "fetch")
			if c.alone {
				g.receives(w, c.want)
			}
		})
	}
	if len(cases) < 40 {
		t.Errorf("%d cases", len(cases))
	}
}

// trustAll trusts all devices with data here.
func (g *target) trustAll() {
	g.t.Helper()
	var list struct{ Devices []state.Device }
	if err := json.Unmarshal([]byte(g.ok("device", "list", "--json")), &list); err != nil {
		g.t.Fatal(err)
	}
	for _, d := range list.Devices {
		if !d.Trusted {
			g.ok("device", "trust", d.ID, "--yes")
		}
	}
}

// receives adds the lane of a third device to the remote and fetches: that lane arrives, although another is refused.
func (g *target) receives(w *hostileWorld, want string) {
	g.t.Helper()
	err := filepath.WalkDir(w.other, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(w.other, path)
		if err != nil || !strings.HasPrefix(rel, "objects") && !strings.HasPrefix(rel, "refs") {
			return err
		}
		to := filepath.Join(g.hub, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, b, 0o600)
	})
	if err != nil {
		g.t.Fatal(err)
	}
	out, code, _ := g.mem("fetch")
	if code != 3 || !regexp.MustCompile(want).MatchString(out) {
		g.t.Errorf("fetch with another lane: exit status %d, want 3 and %q:\n%s", code, want, out)
	}
	g.trustAll()
	if ls := g.ok("ls", "--json", "--all-projects"); !strings.Contains(ls, `"colleague"`) || strings.Contains(w.ls, `"colleague"`) {
		g.t.Errorf("the lane of another device did not arrive: mem ls: %s", ls)
	}
	g.ok("fsck", "--full")
}

// refuses runs a command that must end with an error and change nothing.
func (g *target) refuses(w *hostileWorld, code int, want string, args ...string) {
	g.t.Helper()
	before := g.state()
	start := time.Now()
	out, got, rss := g.mem(args...)
	g.t.Logf("%v: exit status %d, %.1f s, %d MB: %s", args, got, time.Since(start).Seconds(), rss>>20, out)
	if got != code && (code != denied || got != 1 && got != 128) || !regexp.MustCompile(want).MatchString(out) {
		g.t.Errorf("exit status %d, want %d and %q:\n%s", got, code, want, out)
	}
	switch own := ownPeak(g.t); {
	case rss > hostileMemory && rss > own:
		g.t.Errorf("it took %d MB", rss>>20)
	case rss > hostileMemory:
		g.t.Logf("SKIPPED: memory: the tests themselves took %d MB", own>>20)
	}
	after := g.state()
	for name := range after {
		if before[name] != after[name] {
			g.t.Errorf("%s is new or another", name)
		}
	} // what was checked at first, and has not changed, is in order
	for name := range before {
		if _, ok := after[name]; !ok {
			g.t.Errorf("%s is gone", name)
		}
	}
	if now := g.ok("ls", "--json", "--all-projects"); now != w.ls {
		g.t.Errorf("mem ls: %s\nbefore: %s", now, w.ls)
	}
}
