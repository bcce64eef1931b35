package main_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A rig is a store and a way to run mem on it. Its methods may be called from several goroutines at
// once, but for those that end the test.
type rig struct {
	*Store
	t testing.TB
}

type result = Result

// homeOf makes a directory for a test whose commands leave workers in the background. They may write while it goes, which
// t.TempDir would take for a failure.
func homeOf(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mem-torture")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := RemoveAll(dir); err != nil {
			t.Logf("something is left: %v", err)
		}
	})
	return dir
}

// newRig makes an empty store.
func newRig(t testing.TB, bin, dir string) *rig {
	t.Helper()
	s, err := NewStore(t.Context(), bin, os.Getenv("PATH"), dir)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{s, t}
}

// mem runs a command to its end.
func (r *rig) mem(args ...string) result { return r.kill(0, args...) }

// kill runs a command and kills it after a time, unless that is 0.
func (r *rig) kill(after time.Duration, args ...string) result {
	return r.Kill(r.t.Context(), after, args...)
}

// run runs another program to its end.
func (r *rig) run(argv ...string) result {
	return r.Run(r.t.Context(), 0, "", argv)
}

// ok runs a command that must succeed and returns what it prints.
func (r *rig) ok(args ...string) string {
	r.t.Helper()
	res := r.mem(args...)
	if res.Code != 0 {
		r.t.Fatal(res)
	}
	return res.Stdout
}

// fsck checks that the store is clean without any repair.
func (r *rig) fsck(when string) {
	r.t.Helper()
	if res := r.mem("fsck"); res.Code != 0 {
		r.t.Fatalf("%s: %s", when, res)
	}
}

// gitFsck checks both repositories with system git.
func (r *rig) gitFsck() {
	r.t.Helper()
	if err := r.GitFsck(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// original returns the bytes of a session as mem restores them.
func (r *rig) original(id string) ([]byte, error) {
	return r.Original(r.t.Context(), id)
}

// same checks that a session restores to exactly want.
func (r *rig) same(id string, want []byte, when string) {
	r.t.Helper()
	got, err := r.original(id)
	if err != nil {
		r.t.Fatalf("%s: %v", when, err)
	}
	if !bytes.Equal(got, want) {
		r.t.Fatalf("%s: original of %s has %d bytes, want %d; first difference at %d", when, id, len(got), len(want), differ(got, want))
	}
}

func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// write writes a file below the user's home and returns its path.
func (r *rig) write(name string, content []byte) string {
	r.t.Helper()
	path := filepath.Join(r.Home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// clone copies the store, so that a fault can be tried on the copy.
func (r *rig) clone(dir string) *rig {
	r.t.Helper()
	s := *r.Store
	s.Home, s.Dir = dir, filepath.Join(dir, "store")
	c := &rig{&s, r.t}
	if err := errors.Join(os.RemoveAll(c.Dir), os.MkdirAll(dir, 0o700)); err != nil {
		r.t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", r.Dir, c.Dir).CombinedOutput(); err != nil {
		r.t.Fatalf("copy store: %v\n%s", err, out)
	}
	return c
}
