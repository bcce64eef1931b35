package main_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/memvcs/mem/cmd/mem/internal/proof"
)

// A fault is one way for a system call to fail.
type fault struct {
	with string
	at   int
}

// An attempt is a command that changes the store and how to see that it did.
type attempt struct {
	name string
	args []string
	want func(*rig) bool // the change is visible
}

// tortureFaults lets every system call of add, compress and gc that changes something fail once with each
// error, and be the last one that is made. The command then succeeds, or says why not and leaves what
// was there; a repetition works.
func tortureFaults(t *testing.T, r *rig) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED: faults are injected with ptrace on linux/amd64 only")
	}
	inject := build(t, "testdata/inject", "inject")
	if res := r.run(0, []string{inject, "-dir", r.Home, "true"}); res.Code != 0 {
		t.Skipf("SKIPPED: processes cannot be traced here: %s", res.Stderr)
	}
	old, grown := proof.NewTeller(301, "/home/user/app"), proof.NewTeller(302, "/home/user/app")
	before := grown.More(20)
	after := append(bytes.Clone(before), grown.More(20)...)
	kept := old.More(20)
	r.ok("add", r.write("in/"+old.ID+".jsonl", kept))
	r.ok("add", r.write("in/"+grown.ID+".jsonl", before))
	file := r.write("in/"+grown.ID+".jsonl", after)
	fresh := proof.NewTeller(303, "/home/user/other")
	all := fresh.More(30)

	f := faults{rig: r, inject: inject, old: old.ID, kept: kept, grown: grown.ID, states: [][]byte{before, after}}
	holds := func(id string, want []byte) func(*rig) bool {
		return func(c *rig) bool { got, err := c.original(id); return err == nil && bytes.Equal(got, want) }
	}
	f.all(attempt{"add grown", []string{"add", file}, holds(grown.ID, after)})
	f.all(attempt{"add new", []string{"add", r.write("in/"+fresh.ID+".jsonl", all)}, holds(fresh.ID, all)})
	f.all(attempt{"compress", []string{"compress", old.ID, "--ratio", "4"}, func(c *rig) bool {
		return c.mem("show", old.ID+":v001", "--format", "md").Code == 0
	}})
	f.all(attempt{"gc", []string{"gc"}, holds(old.ID, kept)})
}

// faults tries faults on copies of a store.
type faults struct {
	*rig
	inject      string
	old, grown  string   // sessions that are in the store
	kept        []byte   // of old, for ever
	states      [][]byte // that grown may have
	tries, told int
}

// all tries every fault on an attempt, or a sample of them.
func (f *faults) all(a attempt) {
	f.t.Helper()
	f.tries, f.told = 0, 0
	calls := f.count(a)
	step := amount(f.t.(*testing.T), max(1, calls/6), 1, 1)
	for at := 1; at <= calls; at += step {
		for _, with := range []string{"ENOSPC", "EIO", "KILL"} {
			f.try(a, fault{with, at})
		}
	}
	f.t.Logf("%s: %d calls, %d faults, %d of them reported as an error", a.name, calls, f.tries, f.told)
}

// count returns how many calls there are.
func (f *faults) count(a attempt) int {
	f.t.Helper()
	c := f.clone(filepath.Join(f.Home, "clone"))
	res, log := f.run(c, a, fault{})
	if res.Code != 0 {
		f.t.Fatalf("%s without a fault: %s", a.name, res)
	}
	return strings.Count(log, "\n")
}

// run runs an attempt with a fault on the store of c.
func (f *faults) run(c *rig, a attempt, bad fault) (result, string) {
	f.t.Helper()
	log := filepath.Join(f.Home, "calls")
	argv := []string{f.inject, "-dir", c.Dir, "-log", log}
	if bad.at > 0 {
		argv = append(argv, "-at", fmt.Sprint(bad.at), "-with", bad.with)
	}
	res := c.run(0, append(append(argv, f.Bin), a.args...))
	calls, err := os.ReadFile(log)
	if err != nil {
		f.t.Fatal(err)
	}
	return res, string(calls)
}

// try tries one fault and looks at what it left.
func (f *faults) try(a attempt, bad fault) {
	f.t.Helper()
	c := f.clone(filepath.Join(f.Home, "clone"))
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
		if !a.want(c) {
			f.t.Fatalf("%s: exit 0, but the change is not there: %s", what, res)
		}
	case 137:
		if bad.with != "KILL" {
			f.t.Fatalf("%s: %s", what, res)
		}
	case 3, 11, 128:
		f.told++
		if !strings.Contains(res.Stderr, "error: ") {
			f.t.Fatalf("%s: no clear error: %s", what, res)
		}
	default:
		f.t.Fatalf("%s: %s", what, res)
	}
	f.sound(c, what)
	if res := c.mem(a.args...); res.Code != 0 {
		f.t.Fatalf("%s: the next one: %s", what, res)
	}
	if !a.want(c) {
		f.t.Fatalf("%s: the next one succeeded, but the change is not there", what)
	}
	if bad.at%7 == 0 {
		c.gitFsck()
	}
}

// sound checks that a store is valid and holds what it held.
func (f *faults) sound(c *rig, what string) {
	f.t.Helper()
	c.fsck(what)
	c.same(f.old, f.kept, what)
	got, err := c.original(f.grown)
	if err != nil {
		f.t.Fatalf("%s: %v", what, err)
	}
	for _, s := range f.states {
		if bytes.Equal(got, s) {
			return
		}
	}
	f.t.Fatalf("%s: %s restores to %d bytes, which is no state of it", what, f.grown, len(got))
}
