//go:build unix

package disk

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// What is written to a pipe or a device goes through it and leaves it there.
func TestOutlets(t *testing.T) {
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
	if !IsOutlet(pipe) || IsOutlet(dir) || IsOutlet(filepath.Join(dir, "none")) {
		t.Error("IsOutlet knows no pipe")
	}
	if err := WriteOutlet(pipe, hello); err != nil {
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
		if name == "process" {
			if err := os.WriteFile(filepath.Join(dir, "open"), []byte("a log\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if !IsOutlet(link) {
			t.Errorf("IsOutlet(%s) = false", name)
		}
		if err := WriteOutlet(link, hello); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "open"))
		if name == "process" && (err != nil || string(b) != "a log\nhello") {
			t.Errorf("the open file contains %q, %v", b, err)
		}
		if got, err := os.Readlink(link); err != nil || got != target {
			t.Errorf("%s leads to %q, %v", name, got, err)
		}
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
