package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

func TestWriteFileKeepsTheMode(t *testing.T) {
	t.Parallel()
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o400} {
		file := filepath.Join(t.TempDir(), "a")
		if err := os.WriteFile(file, []byte("old and longer"), mode); err != nil {
			t.Fatal(err)
		}
		if err := WriteFile(file, []byte("new")); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(file)
		fi, serr := os.Stat(file)
		if err != nil || serr != nil || string(b) != "new" || fi.Mode().Perm() != mode {
			t.Errorf("a file with mode %v contains %q and has mode %v: %v, %v", mode, b, fi.Mode(), err, serr)
		}
	}
}

func TestWriteFileOfANewFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a")
	if err := WriteFile(file, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("a new file: %v, %v; want mode 0600", fi, err)
	}
}

// TestWriteFileThatFails replaces a file by a directory, so that the rename fails: the temporary file is removed and
// what was there stays.
func TestWriteFileThatFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	if err := os.MkdirAll(filepath.Join(file, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(file, []byte("new")); err == nil {
		t.Fatal("WriteFile over a directory succeeds")
	}
	if left, err := Match(dir, Temporary+"*"); err != nil || len(left) > 0 {
		t.Errorf("temporary files remain: %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(file, "below")); err != nil {
		t.Error(err)
	}
	if err := WriteFile(filepath.Join(dir, "none", "a"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("WriteFile in a missing directory = %v", err)
	}
}

// TestWriteFileIsWhole reads a file while several writers replace it: a reader sees one of the contents, never a part.
func TestWriteFileIsWhole(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a")
	content := func(i int) []byte { return fmt.Appendf(nil, "%d%0*d%d", i, 5000*(i+1), 0, i) }
	known := map[string]bool{}
	for i := range 4 {
		known[string(content(i))] = true
	}
	if err := WriteFile(file, content(0)); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	done := make(chan struct{})
	for i := range 4 {
		writers.Go(func() {
			for range 10 {
				if err := WriteFile(file, content(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { writers.Wait(); close(done) }()
	for {
		b, err := os.ReadFile(file)
		if err != nil || !known[string(b)] {
			t.Fatalf("a reader saw %d bytes of no writer: %v", len(b), err)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

func TestIsFull(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, true},
		{fmt.Errorf("commit: %w", AsWriteError(errQuota)), true},
		{syscall.EROFS, false},
		{nil, false},
	} {
		if got := IsFull(c.err); got != c.want {
			t.Errorf("IsFull(%v) = %v, want %v", c.err, got, c.want)
		}
	}
}

func TestAsWriteError(t *testing.T) {
	t.Parallel()
	if err := AsWriteError(nil); err != nil {
		t.Errorf("AsWriteError(nil) = %v", err)
	}
	err := fmt.Errorf("add: %w", AsWriteError(syscall.EROFS))
	var w *WriteError
	if !errors.As(err, &w) || !errors.Is(err, syscall.EROFS) || w.Error() != syscall.EROFS.Error() {
		t.Errorf("%v is no WriteError of its cause", err)
	}
}
