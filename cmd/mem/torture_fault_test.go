package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// A fault is one way for a system call to fail.
type fault struct {
	with string
	at   int
}

// An attempt is a command that changes something and how to see that it did.
type attempt struct {
	name  string
	args  []string
	stdin string
	want  func(*rig) bool // the change is visible
	each  bool            // a call fails with ENOSPC and with EIO in any tier
	mute  bool            // it never fails, so that its status says nothing where a call failed
}

// tortureFaults kills add, compress, push, pull, gc and a hook at system calls that change something, and lets these calls fail. The
// command then succeeds, or says why not and leaves what was there; a repetition works. The full tier takes every call with every
// error; the others take a sample of the calls, with ENOSPC and EIO for add and compress, and one error in turn for the others.
func tortureFaults(t *testing.T, bin string) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED: faults are injected with ptrace on linux/amd64 only")
	}
	inject := build(t, "testdata/inject", "inject")
	r := newRig(t, bin, homeOf(t))
	if res := r.run(inject, "-dir", r.Home, "true"); res.Code != 0 {
		t.Skipf("SKIPPED: processes cannot be traced here: %s", res.Stderr)
	}
	for _, name := range []string{"add grown", "add new", "compress", "push", "pull", "hook", "gc"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each on a store of its own
			f := newFaults(t, inject, newRig(t, bin, homeOf(t)))
			f.all(f.attempt(name))
		})
	}
}

// newFaults makes a store with two sessions, one of which has grown since, and a repository with one of another machine.
func newFaults(t *testing.T, inject string, r *rig) *faults {
	t.Helper()
	old, grown, other := NewGenerator(301, "/home/user/app"), NewGenerator(302, "/home/user/app"), NewGenerator(304, "/home/user/app")
	before := grown.More(20)
	after := append(bytes.Clone(before), grown.More(20)...)
	f := &faults{
		rig: r, inject: inject, work: filepath.Join(r.Home, "clone"), old: old.ID, kept: old.More(20), grown: grown.ID, states: [][]byte{before, after},
		other: other.ID, theirs: other.More(20),
	}
	f.meet(r.write("theirs/"+other.ID+".jsonl", f.theirs))
	r.ok("add", r.write("in/"+old.ID+".jsonl", f.kept))
	r.ok("add", r.write("in/"+grown.ID+".jsonl", before))
	return f
}

// attempt returns the attempt of a name.
func (f *faults) attempt(name string) attempt {
	f.t.Helper()
	ctx, after := f.t.Context(), f.states[1]
	holds := func(id string, want []byte) func(*rig) bool {
		return func(c *rig) bool {
			got, err := c.Read(ctx, time.Now, id)
			return err == nil && bytes.Equal(got, want)
		}
	}
	a := attempt{name: name}
	switch name {
	case "add grown":
		a.each, a.args, a.want = true, []string{"add", f.write("in/"+f.grown+".jsonl", after)}, holds(f.grown, after)
	case "add new":
		fresh := NewGenerator(303, "/home/user/other")
		all := fresh.More(30)
		a.each, a.args, a.want = true, []string{"add", f.write("in/"+fresh.ID+".jsonl", all)}, holds(fresh.ID, all)
	case "compress":
		a.each, a.args = true, []string{"compress", f.old, "--ratio", "4"}
		a.want = func(c *rig) bool { return c.mem("show", f.old+":v001", "--format", "md").Code == 0 }
	case "push":
		a.args, a.want = []string{"push", "--all", "--yes"}, f.pushed
	case "pull":
		a.args = []string{"pull"} // the session waits until its device is trusted
		a.want = func(c *rig) bool {
			return strings.Contains(c.ok("device", "list", "--json"), `"waiting":{"sessions":1,`)
		}
	case "hook":
		hooked := f.write("clone/claude/projects/-home-user-app/"+f.grown+".jsonl", after) // below the home of the copies
		payload, err := json.Marshal(map[string]string{"session_id": f.grown, "transcript_path": hooked, "cwd": "/home/user/app"})
		if err != nil {
			f.t.Fatal(err)
		}
		a.mute, a.args, a.stdin = true, []string{"hook", "Stop"}, f.write("payload", payload)
		a.want = func(c *rig) bool {
			start := time.Now()
			err := c.Drain(ctx, func() time.Duration { return time.Since(start) })
			return err == nil && holds(f.grown, after)(c)
		}
	case "gc":
		a.args, a.want = []string{"gc"}, holds(f.old, f.kept)
	}
	return a
}

// faults tries faults on copies of a store and of the repository that it talks to.
type faults struct {
	*rig
	inject      string
	work        string   // where the copies are
	old, grown  string   // sessions that are in the store
	kept        []byte   // of old, for ever
	states      [][]byte // that grown may have
	other       string   // a session of another machine
	theirs      []byte   // of other
	tries, told int
}

// meet makes the repository, to which another machine has pushed.
func (f *faults) meet(file string) {
	f.t.Helper()
	if out, err := exec.Command("git", "init", "-q", "--bare", filepath.Join(f.Home, "hub.git")).CombinedOutput(); err != nil {
		f.t.Skipf("SKIPPED: the repository that is pushed to is made with git: %v %s", err, out)
	}
	dir := filepath.Join(f.Home, "machine")
	if err := os.Mkdir(dir, 0o700); err != nil {
		f.t.Fatal(err)
	}
	o := newRig(f.t, f.Bin, dir)
	o.ok("add", file)
	o.ok("remote", "add", "origin", filepath.Join(f.Home, "hub.git"))
	o.ok("push", "--all", "--yes")
	if err := os.MkdirAll(f.work, 0o700); err != nil {
		f.t.Fatal(err)
	}
	f.copyHub() // a remote that is not there is refused
	f.ok("remote", "add", "origin", filepath.Join(f.work, "hub.git"))
}

// copyHub copies the repository that is pushed to.
func (f *faults) copyHub() {
	f.t.Helper()
	if out, err := exec.Command("cp", "-a", filepath.Join(f.Home, "hub.git"), filepath.Join(f.work, "hub.git")).CombinedOutput(); err != nil {
		f.t.Fatalf("copy the remote: %v\n%s", err, out)
	}
}

// copies makes copies to work on.
func (f *faults) copies() *rig {
	f.t.Helper()
	hub := filepath.Join(f.work, "hub.git")
	if err := os.RemoveAll(hub); err != nil {
		f.t.Fatal(err)
	}
	c := f.clone(f.work)
	f.copyHub()
	return c
}

// pushed reports whether the remote has all that the store has, and is sound.
func (f *faults) pushed(c *rig) bool {
	res := c.mem("push", "--all", "--yes", "-n", "--json")
	git := c.run("git", "-C", filepath.Join(f.work, "hub.git"), "fsck", "--strict")
	return res.Code == 0 && strings.Count(res.Stdout, `"status":"current"`) == strings.Count(res.Stdout, `"status"`) && git.Code == 0
}

// all tries every fault on an attempt, or a sample of them.
func (f *faults) all(a attempt) {
	f.t.Helper()
	f.tries, f.told = 0, 0
	t, n := f.t.(*testing.T), f.count(a)
	errnos, turn := []string{"ENOSPC", "EIO", "EACCES", "EMFILE"}, 0
	full := amount(t, 0, 0, 1) == 1
	for at := range calls(t, n, 2, 12) {
		f.try(a, fault{"KILL", at})
		with := errnos
		switch {
		case full:
		case a.each:
			with = errnos[:2]
		default:
			with = errnos[turn%len(errnos):][:1]
		}
		for _, e := range with {
			f.try(a, fault{e, at})
		}
		turn++
	}
	t.Logf("%s: %d calls, %d faults at %d of them, %d of them reported as an error", a.name, n, f.tries, turn, f.told)
}

// count returns how many calls there are.
func (f *faults) count(a attempt) int {
	f.t.Helper()
	c := f.copies()
	res, log := f.run(c, a, fault{})
	if res.Code != 0 || !a.want(c) {
		f.t.Fatalf("%s without a fault: %s", a.name, res)
	}
	return strings.Count(log, "\n")
}

// run runs an attempt with a fault on the copies.
func (f *faults) run(c *rig, a attempt, bad fault) (result, string) {
	f.t.Helper()
	log := filepath.Join(f.Home, "calls")
	argv := []string{f.inject, "-dir", f.work, "-log", log}
	if bad.at > 0 {
		argv = append(argv, "-at", fmt.Sprint(bad.at), "-with", bad.with)
	}
	res := c.Run(f.t.Context(), 0, a.stdin, append(append(argv, f.Bin), a.args...))
	calls, err := os.ReadFile(log)
	if err != nil {
		f.t.Fatal(err)
	}
	return res, string(calls)
}

// try tries one fault and looks at what it left.
func (f *faults) try(a attempt, bad fault) {
	f.t.Helper()
	c := f.copies()
	res, log := f.run(c, a, bad)
	call := "after the last call"
	for line := range strings.Lines(log) {
		if strings.HasSuffix(line, "<-\n") {
			call = strings.TrimSpace(line)
		}
	}
	what := fmt.Sprintf("%s, call %d (%s) %s", a.name, bad.at, call, bad.with)
	f.tries++
	switch res.Code {
	case 0:
		if !a.mute && !a.want(c) {
			f.t.Fatalf("%s: exit 0, but the change is not there: %s", what, res)
		}
	case 137:
		if bad.with != "KILL" {
			f.t.Fatalf("%s: %s", what, res)
		}
	case 1, 3, 11, 128:
		f.told++
		if res.Code != 1 && !strings.Contains(res.Stderr, "error: ") || a.mute || res.Code == 1 && a.name != "push" {
			f.t.Fatalf("%s: no clear error: %s", what, res)
		}
	default:
		f.t.Fatalf("%s: %s", what, res)
	}
	f.sound(c, what)
	if res := c.Run(f.t.Context(), 0, a.stdin, append([]string{c.Bin}, a.args...)); res.Code != 0 {
		f.t.Fatalf("%s: the next one: %s", what, res)
	}
	if !a.want(c) {
		f.t.Fatalf("%s: the next one succeeded, but the change is not there", what)
	}
	if bad.at%7 == 0 {
		c.gitFsck()
	}
}

// sound checks that a store is valid and has all its data.
func (f *faults) sound(c *rig, what string) {
	f.t.Helper()
	c.fsck(what)
	got, err := c.Read(f.t.Context(), time.Now, f.old)
	if err != nil || !bytes.Equal(got, f.kept) {
		f.t.Fatalf("%s: %d bytes of %s, want %d: %v", what, len(got), f.old, len(f.kept), err)
	}
	if got, err = c.Read(f.t.Context(), time.Now, f.grown); err != nil {
		f.t.Fatalf("%s: %v", what, err)
	}
	for _, s := range f.states {
		if bytes.Equal(got, s) {
			return
		}
	}
	f.t.Fatalf("%s: %s restores to %d bytes, which is no state of it", what, f.grown, len(got))
}

// tortureForgetPush kills the push after a forget at each of its system calls, to a plain and to an encrypted remote in a
// directory. Afterwards "mem push", "mem gc --remote" and "mem doctor --fix" each delete what is left there, in a sample of the calls
// in turn; and the same for a push that was killed before the forget.
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
	nexts, turn := [][]string{{"push", "--all", "--yes"}, {"gc", "--remote", "origin"}, {"doctor", "--fix"}}, 0
	each := amount(f.t.(*testing.T), 1, 1, len(nexts))
	for at := range calls(f.t.(*testing.T), n, 6, 12) {
		for range each {
			next := nexts[turn%len(nexts)]
			turn++
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
	bin, inject := inPath(t), build(t, "testdata/inject", "inject")
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
