package capture_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs/disk"
)

// writeFiles writes files with a content to a directory as a checkout does.
func writeFiles(m *layers.Memory, dir, content string, force, dryRun bool, names ...string) (capture.CheckedOut, error) {
	return capture.WriteTree(m.DB, dir, force, dryRun, func(t *disk.Tree) ([]string, error) {
		var errs []error
		for _, name := range names {
			errs = append(errs, t.Stage(name, func(w io.Writer) error { _, err := io.WriteString(w, content); return err }))
		}
		return names, errors.Join(errs...)
	})
}

// TestWriteTree replaces what it wrote itself, and neither a file of the user nor one that the user has changed.
func TestWriteTree(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	dir := filepath.Join(t.TempDir(), "out")
	read := func(name string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return string(b)
	}
	if _, err := writeFiles(m, dir, "dry", false, true, "a"); err != nil || read("a") != "" {
		t.Errorf("a dry run writes %q, %v", read("a"), err)
	}
	if _, err := os.Lstat(m.CachePath("written")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a dry run records that it wrote files: %v", err)
	}
	done, err := writeFiles(m, dir, "one", false, false, "a", "b")
	if want := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}; err != nil || !slices.Equal(done.Files, want) || len(done.Created) != 1 {
		t.Errorf("WriteTree = %+v, %v; want %v and one new directory", done, err, want)
	}
	m = layerstest.Reopen(t, m) // what it wrote is known to the next process
	if _, err := writeFiles(m, dir, "two", false, false, "a", "b"); err != nil || read("a")+read("b") != "twotwo" {
		t.Errorf("files of an earlier checkout are %q and %q, %v", read("a"), read("b"), err)
	}
	layerstest.Write(t, filepath.Join(dir, "b"), "of the user")
	if _, err := writeFiles(m, dir, "three", false, false, "a", "b"); err == nil || read("a") != "two" || read("b") != "of the user" {
		t.Errorf("beside a file that the user changed: %q and %q, %v; want an error and nothing written", read("a"), read("b"), err)
	}
	if _, err := writeFiles(m, dir, "three", true, false, "a", "b"); err != nil || read("a")+read("b") != "threethree" {
		t.Errorf("with force: %q and %q, %v", read("a"), read("b"), err)
	}
	stop := errors.New("stop")
	if _, err := capture.WriteTree(m.DB, dir, false, false, func(*disk.Tree) ([]string, error) { return nil, stop }); !errors.Is(err, stop) {
		t.Errorf("a failing checkout = %v", err)
	}
	if err := os.RemoveAll(m.DB.CachePath("written")); err != nil {
		t.Fatal(err)
	}
	if _, err := writeFiles(m, dir, "four", false, false, "a"); err == nil || read("a") != "three" {
		t.Errorf("without the cache an own file is replaced: %q, %v", read("a"), err)
	}
}

// TestResumed makes the file of another device's session from memory: it is captured when it has a turn more, and not
// before. A file that mem did not make is captured at once.
func TestResumed(t *testing.T) {
	t.Parallel()
	text := layerstest.UserLine(1, "one") + layerstest.UserLine(2, "two")
	moved := func(text string) string { return strings.ReplaceAll(text, "/home/dev/shop", "/home/dev/shop-2") }
	for _, resumed := range []bool{true, false} {
		laptop, m := layerstest.NewMemory(t, layerstest.TestOptions()), layerstest.NewMemory(t, layerstest.TestOptions())
		added := layerstest.Add(t, laptop, layerstest.Write(t, filepath.Join(t.TempDir(), "s1.jsonl"), text))[0]
		layerstest.Fetch(t, m, laptop)
		layerstest.TrustAll(t, m)
		src := layerstest.Write(t, filepath.Join(t.TempDir(), "s1.jsonl"), moved(text))
		if resumed {
			capture.Resumed(m.DB, src.Path, objects.Sum([]byte(moved(text))))
		}
		for _, c := range []struct {
			more     string
			captured bool // of a resumed file
		}{
			{"", false},
			{`{"type":"mode","mode":"normal","sessionId":"s1"}` + "\n", false}, // no turn
			{moved(layerstest.UserLine(3, "three")), true},
		} {
			layerstest.Write(t, src.Path, moved(text)+c.more)
			got := mustAdd(t, m, capture.AddOptions{Into: &added.Project}, src)["s1"]
			if want := c.captured || !resumed; (got != "unchanged") != want && resumed || !resumed && c.more == "" && got == "unchanged" {
				t.Errorf("resumed %v, with %q: %q, want it captured: %v", resumed, c.more, got, want)
			}
		}
		layerstest.CheckClean(t, m)
	}
}

// TestResumedFileThatIsGone records nothing, without an error.
func TestResumedFileThatIsGone(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	capture.Resumed(m.DB, filepath.Join(t.TempDir(), "none.jsonl"), objects.Sum(nil))
	if _, err := os.Stat(m.DB.CachePath("written")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file is recorded: %v", err)
	}
}
