package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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
