package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A file is continued only if all of it is the beginning of the new one, and if nobody else goes on with it.
func TestContinue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		old, now string
		ok       bool
	}{
		{"one\n", "one\ntwo\n", true},
		{"", "one\n", true},
		{"one\n", "one\n", true},
		{"one\nmore\n", "one\n", false},
		{"one\n", "two\none\n", false},
		{"onE\n", "one\ntwo\n", false},
	} {
		for _, dry := range []bool{true, false} {
			dir := t.TempDir()
			path := write(t, filepath.Join(dir, "f"), c.old)
			err := put(dir, "f", c.now, Options{Continue: true, DryRun: dry}, nil)
			if c.ok != (err == nil) || err != nil && !errors.Is(err, ErrExists) {
				t.Errorf("%q continued as %q: %v", c.old, c.now, err)
			}
			want := c.old
			if c.ok && !dry {
				want = c.now
			}
			if got := content(t, path); got != want {
				t.Errorf("%q continued as %q is %q, want %q", c.old, c.now, got, want)
			}
		}
	}
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "f"), "one\n")
	tree, err := Open(dir, Options{Continue: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Stage("f", text("one\ntwo\n")); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("of the client\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tree.Commit(nil), tree.Close()); !errors.Is(err, ErrExists) || content(t, path) != "one\nof the client\n" {
		t.Errorf("a file that went on meanwhile: %v, %q", err, content(t, path))
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
}
