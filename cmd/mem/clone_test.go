package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A cloning is a remote that is cloned again and again, each time killed at another system call.
type cloning struct {
	*rig
	inject, work string
	args         []string // of the clone
	session      string
	want         []byte // its exact or clean bytes, as a whole clone restores them
}

// TestCloneKilled kills a clone at system calls that change something. The same clone, run again, must bring everything; a clone that has
// finished is refused.
func TestCloneKilled(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED: commands are killed at a system call with ptrace on linux/amd64 only")
	}
	bin, inject := build(t, ".", "mem"), build(t, "testdata/inject", "inject")
	for _, sealed := range []bool{false, true} {
		t.Run(fmt.Sprintf("sealed=%v", sealed), func(t *testing.T) {
			t.Parallel()
			c := newCloning(t, bin, inject, sealed)
			n, tries := c.count(), 0
			for at := range calls(t, n, 8, 40) {
				c.try(at)
				tries++
			}
			t.Logf("%d calls, killed at %d of them", n, tries)
		})
	}
}

func newCloning(t *testing.T, bin, inject string, sealed bool) *cloning {
	t.Helper()
	c := &cloning{rig: newRig(t, bin, homeOf(t)), inject: inject}
	if res := c.run(inject, "-dir", c.Home, "true"); res.Code != 0 {
		t.Skipf("SKIPPED: processes cannot be traced here: %s", res.Stderr)
	}
	hub := filepath.Join(c.Home, "hub.git")
	if out, err := exec.Command("git", "init", "-q", "--bare", hub).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: the repository that is cloned is made with git: %v %s", err, out)
	}
	teller := NewGenerator(501, "/home/user/app")
	c.session = teller.ID
	c.ok("add", c.write("in/"+teller.ID+".jsonl", teller.More(20)))
	c.work = filepath.Join(c.Home, "work")
	c.args = []string{"clone", filepath.Join(c.work, "hub.git"), "--device", "desk", "--trust"}
	if sealed {
		paper := c.ok("remote", "add", "--encrypt", "origin", hub)
		c.args = append(c.args, "--recovery-key", c.write("paper", []byte(paper)))
	} else {
		c.ok("remote", "add", "origin", hub)
	}
	c.ok("push", "--all", "--yes")
	return c
}

// machine makes a machine without a memory, and a copy of the remote that it can reach.
func (c *cloning) machine() *rig {
	c.t.Helper()
	if err := os.RemoveAll(c.work); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Mkdir(c.work, 0o700); err != nil {
		c.t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", filepath.Join(c.Home, "hub.git"), c.work).CombinedOutput(); err != nil {
		c.t.Fatalf("copy the remote: %v\n%s", err, out)
	}
	s := *c.Store
	s.Home, s.Dir = c.work, filepath.Join(c.work, "store")
	return &rig{&s, c.t}
}

// clones clones onto a machine and kills that at a system call, unless at is 0.
func (c *cloning) clones(m *rig, at int) (result, string) {
	c.t.Helper()
	log := filepath.Join(c.Home, "calls")
	argv := []string{c.inject, "-dir", c.work, "-log", log}
	if at > 0 {
		argv = append(argv, "-at", fmt.Sprint(at), "-with", "KILL")
	}
	res := m.Run(c.t.Context(), 0, "", append(append(argv, c.Bin), c.args...))
	calls, err := os.ReadFile(log)
	if err != nil {
		c.t.Fatal(err)
	}
	return res, string(calls)
}

// count returns how many calls a whole clone makes, and remembers what it brings.
func (c *cloning) count() int {
	c.t.Helper()
	m := c.machine()
	res, log := c.clones(m, 0)
	if res.Code != 0 {
		c.t.Fatal(res)
	}
	var err error
	if c.want, err = m.original(c.session); err != nil || len(c.want) == 0 {
		c.t.Fatalf("%d bytes of %s: %v", len(c.want), c.session, err)
	}
	return strings.Count(log, "\n")
}

// try kills a clone at a call, and runs it again.
func (c *cloning) try(at int) {
	c.t.Helper()
	m := c.machine()
	res, log := c.clones(m, at)
	call := ""
	for line := range strings.Lines(log) {
		if strings.HasSuffix(line, "<-\n") {
			call = strings.TrimSpace(line)
		}
	}
	what := fmt.Sprintf("killed at call %d (%s)", at, call)
	if res.Code != 137 && res.Code != 0 {
		c.t.Fatalf("%s: %s", what, res)
	}
	_, err := os.Lstat(filepath.Join(m.Dir, "clone.json"))
	_, made := os.Lstat(filepath.Join(m.Dir, "memory.git", "HEAD"))
	finished := err != nil && made == nil
	if res := m.mem(c.args...); finished != (res.Code == 128) || !finished && res.Code != 0 {
		c.t.Fatalf("%s: finished %v; the same clone again: %s", what, finished, res)
	}
	if res := m.mem(c.args...); res.Code != 128 || !strings.Contains(res.Stderr, "already exists") {
		c.t.Fatalf("%s: a clone over a finished one: %s", what, res)
	}
	m.fsck(what)
	if got, err := m.original(c.session); err != nil || !bytes.Equal(got, c.want) {
		c.t.Fatalf("%s: %d bytes of %s, want %d: %v", what, len(got), c.session, len(c.want), err)
	}
	if out := m.ok("device", "list", "--json"); strings.Contains(out, `"trusted":false`) {
		c.t.Fatalf("%s: --trust was forgotten: %s", what, out)
	}
	if out := m.ok("remote", "list"); strings.Count(out, "origin") != 1 {
		c.t.Fatalf("%s: remotes: %s", what, out)
	}
	m.ok("push", "--all", "--yes")
}
