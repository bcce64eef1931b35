package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// tortureForgetPush kills the push after a forget at each of its system calls, to a plain and to an encrypted remote in a
// directory. Afterwards "mem push", "mem gc --remote" and "mem doctor --fix" each delete what is left there; and the same for
// a push that was killed before the forget.
func tortureForgetPush(t *testing.T, bin string) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED: calls are counted with ptrace on linux/amd64 only")
	}
	inject := build(t, "testdata/inject", "inject")
	if res := newRig(t, bin, homeOf(t)).run(inject, "-dir", t.TempDir(), "true"); res.Code != 0 {
		t.Skipf("SKIPPED: processes cannot be traced here: %s", res.Stderr)
	}
	for name, flags := range map[string][]string{"plain": nil, "encrypted": {"--encrypt"},
		"originals": {"--encrypt", "--originals"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newForgotten(t, inject, newRig(t, bin, homeOf(t)), flags)
			f.killPush()
			f.killBefore()
		})
	}
}

// forgotten is a store, and a remote that has a session which the store has forgotten since.
type forgotten struct {
	*faults
	tip   []string // the remote's branches with the forgotten data
	mark  string   // of the session
	fresh string   // file of another session
}

func newForgotten(t *testing.T, inject string, r *rig, flags []string) *forgotten {
	t.Helper()
	f := &forgotten{faults: &faults{rig: r, inject: inject, work: filepath.Join(r.Home, "clone")}}
	hub := filepath.Join(f.Home, "hub.git")
	if out, err := exec.Command("git", "init", "-q", "--bare", hub).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: the repository that is pushed to is made with git: %v %s", err, out)
	}
	work := filepath.Join(f.work, "hub.git")
	if err := os.MkdirAll(f.work, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(hub, work); err != nil { // the copies replace it
		t.Fatal(err)
	}
	r.ok(append(append([]string{"remote", "add"}, flags...), "origin", work)...)
	for i := range 3 {
		kept := NewGenerator(uint64(401+i), "/home/user/app")
		r.ok("add", r.write("in/"+kept.ID+".jsonl", kept.More(12)))
		r.ok("push", "--all", "--yes")
	}
	gone, fresh := NewGenerator(411, "/home/user/app"), NewGenerator(412, "/home/user/app")
	f.mark, f.fresh = gone.ID, r.write("in/"+fresh.ID+".jsonl", fresh.More(12))
	r.ok("add", r.write("in/"+gone.ID+".jsonl", gone.More(12)))
	return f
}

// hub returns the output of git in the copy of the remote.
func (f *forgotten) hub(c *rig, args ...string) string {
	f.t.Helper()
	res := c.run(append([]string{"git", "-C", filepath.Join(f.work, "hub.git")}, args...)...)
	if res.Code != 0 {
		f.t.Fatal(res)
	}
	return res.Stdout
}

// clean reports what the remote should not have: unreachable objects, temporary files and the former branches.
func (f *forgotten) clean(c *rig) (left string) {
	f.t.Helper()
	left = f.hub(c, "fsck", "--strict", "--unreachable", "--no-reflogs")
	for _, id := range f.tip {
		if res := c.run("git", "-C", filepath.Join(f.work, "hub.git"), "cat-file", "-e", id); res.Code == 0 {
			left += "former commit " + id + "\n"
		}
	}
	packs, err := os.ReadDir(filepath.Join(f.work, "hub.git", "objects", "pack"))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, p := range packs {
		if !strings.HasPrefix(p.Name(), "pack-") {
			left += p.Name() + "\n"
		}
	}
	return left
}

// killPush kills the push after a forget.
func (f *forgotten) killPush() {
	f.t.Helper()
	f.ok("push", "--all", "--yes")
	before := f.rig.run("git", "-C", filepath.Join(f.Home, "hub.git"), "for-each-ref", "--format=%(objectname)")
	f.tip = strings.Fields(before.Stdout)
	f.ok("forget", f.mark, "--yes")
	push := attempt{name: "push", args: []string{"push", "--all", "--yes"}}
	c := f.copies()
	res, log := f.run(c, push, fault{})
	if res.Code != 0 {
		f.t.Fatal(res)
	}
	heads := f.hub(c, "for-each-ref")
	// the keyring of an encrypted remote stays
	f.tip = slices.DeleteFunc(f.tip, func(id string) bool { return strings.Contains(heads, id) })
	if len(f.tip) == 0 {
		f.t.Fatal("no branch of the remote has moved")
	}
	if left := f.clean(c); left != "" {
		f.t.Fatalf("the push was not interrupted, and left on the remote:\n%s", left)
	}
	n := strings.Count(log, "\n")
	f.t.Logf("%d calls", n)
	for at := range calls(f.t.(*testing.T), n, 4, 8) {
		for _, next := range [][]string{{"push", "--all", "--yes"}, {"gc", "--remote", "origin"}, {"doctor", "--fix"}} {
			c := f.copies()
			if res, _ := f.run(c, push, fault{"KILL", at}); res.Code != 137 {
				f.t.Fatalf("call %d: %s", at, res)
			}
			moved := f.hub(c, "for-each-ref") == heads
			res := c.mem(next...)
			if left := f.clean(c); left != "" && (moved || next[0] == "push") {
				f.t.Errorf("push killed at call %d of %d, then mem %s (%d): left on the remote:\n%s", at, n, strings.Join(next, " "), res.Code, left)
			}
			f.quiet(c, at)
		}
	}
}

// quiet checks that the next push leaves nothing, and that nothing is announced any more.
func (f *forgotten) quiet(c *rig, at int) {
	f.t.Helper()
	c.ok("push", "--all", "--yes")
	if left := f.clean(c); left != "" {
		f.t.Errorf("push killed at call %d, then pushed: left on the remote:\n%s", at, left)
	}
	if res := c.mem("doctor", "--json"); strings.Contains(res.Stdout, "may still be on") {
		f.t.Errorf("push killed at call %d, then pushed: %s", at, res.Stdout)
	}
}

// killBefore kills a push before the forget of what it sends.
func (f *forgotten) killBefore() {
	f.t.Helper()
	f.ok("push", "--all", "--yes")
	f.tip = nil
	f.ok("add", f.fresh)
	session := strings.TrimSuffix(filepath.Base(f.fresh), ".jsonl")
	push := attempt{name: "push", args: []string{"push", "--all", "--yes"}}
	_, log := f.run(f.copies(), push, fault{})
	for at := range calls(f.t.(*testing.T), strings.Count(log, "\n"), 4, 8) {
		c := f.copies()
		if res, _ := f.run(c, push, fault{"KILL", at}); res.Code != 137 {
			f.t.Fatalf("call %d: %s", at, res)
		}
		c.ok("forget", session, "--yes")
		f.quiet(c, at)
	}
}
