//go:build unix

package layers

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// What is written to a pipe or a device goes through it and leaves it there; a file is replaced, and so is a link to one.
func TestWriteWholeOutlets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hello := func(w io.Writer) error {
		_, err := io.WriteString(w, "hello")
		return err
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("SKIPPED: no pipes here:", err)
	}
	read := make(chan string, 1)
	go func() {
		b, err := os.ReadFile(pipe)
		if err != nil {
			b = []byte(err.Error())
		}
		read <- string(b)
	}()
	if err := writeWhole(pipe, hello); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Lstat(pipe); err != nil || fi.Mode().Type() != os.ModeNamedPipe {
		t.Fatalf("the pipe is gone: %v %v", fi, err)
	}
	if got := <-read; got != "hello" {
		t.Errorf("the pipe brought %q", got)
	}
	for name, target := range map[string]string{"null": os.DevNull, "process": "/proc/self/fd/" + openFD(t, filepath.Join(dir, "open"))} {
		link := filepath.Join(dir, name)
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(link); err != nil {
			continue // there is no /proc
		}
		if err := writeWhole(link, hello); err != nil {
			t.Fatal(err)
		}
		if got, err := os.Readlink(link); err != nil || got != target {
			t.Errorf("%s leads to %q, %v", name, got, err)
		}
	}
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	if err := writeWhole(link, hello); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(other); string(b) != "mine" {
		t.Errorf("what the link led to holds %q, %v", b, err)
	}
	if fi, err := os.Lstat(link); err != nil || !fi.Mode().IsRegular() {
		t.Errorf("the link is %v, %v", fi, err)
	}
}

func openFD(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return strconv.Itoa(int(f.Fd()))
}

// Whoever is interrupted while he writes something out stops, and leaves no half of it.
func TestCheckoutStops(t *testing.T) {
	t.Parallel()
	m := newMemory(t, testOptions())
	p := add(t, m, write(t, filepath.Join(t.TempDir(), "s1.jsonl"), userLine(1, strings.Repeat("x", 3<<20))+userLine(2, "that is all")))[0].Project
	rev, err := m.Resolve(t.Context(), Scope{Project: p}, "s1:original")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := m.Write(ctx, rev, "", calling(cancel)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted after the first bytes: %v, want context.Canceled", err)
	}
	dir := t.TempDir()
	if err := m.Checkout(ctx, rev, filepath.Join(dir, "out.jsonl"), ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a checkout that was interrupted: %v, want context.Canceled", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

// calling is a writer that calls what it is when it is written to.
type calling func()

func (f calling) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}
