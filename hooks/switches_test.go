package hooks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/capture"
)

// TestWorkerOfNoCapture starts a session with capture switched off: the worker that makes the missing digests captures nothing.
func TestWorkerOfNoCapture(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i := range 4 {
		d.write(fmt.Sprintf("old-%d", i), "How does the parser work?")
	}
	d.hook("SessionStart", "new-0", nil)
	if err := os.RemoveAll(filepath.Join(d.store(), "cache")); err != nil {
		t.Fatal(err)
	}
	d.settings.Capture = false
	d.write("private-1", "My salary is 4711")
	d.slow = 500 * time.Millisecond
	d.hook("SessionStart", "new-1", nil)
	if !slices.Equal(d.detached, []string{"hook work"}) {
		t.Fatalf("started %q: the test shows nothing; %s", d.detached, d.log())
	}
	d.work()
	if n := d.stored(); n != 4 || Backlogs(d.store()) != 0 || d.log() != "" {
		t.Errorf("%d sessions stored, want 4, %d places left; %s", n, Backlogs(d.store()), d.log())
	}
}

// TestNestedSubagents switches capture off for a session with a subagent in a directory of its subagents: no session captures it.
func TestNestedSubagents(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.env = map[string]string{"MEM_CAPTURE": "off"}
	d.write("private-1", "My salary is 4711")
	d.hook("Stop", "private-1", nil)
	d.env = nil
	d.writeAt(d.cwd, filepath.Join(d.sessions(), "private-1", "subagents", "more", "agent-a1.jsonl"), "4711")
	d.hook("SessionStart", "open-1", nil)
	d.work()
	if n := d.stored(); n != 0 || d.log() != "" {
		t.Errorf("%d sessions stored; %s", n, d.log())
	}
	if id := sessionOf("/subagents/.claude/projects/-w/aaaa1111.jsonl"); id != "aaaa1111" {
		t.Errorf("a session of a user called subagents is %q", id)
	}
}

// TestFailures splits the errors of a capture: a note is done if its file is gone, not if something else is missing.
func TestFailures(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("aaaa1111", "Hello")
	there, gone := filepath.Join(d.sessions(), "aaaa1111.jsonl"), filepath.Join(d.sessions(), "bbbb2222.jsonl")
	w := d.world(strings.NewReader(""), io.Discard)
	missing := &fs.PathError{Op: "open", Path: "x.pack", Err: fs.ErrNotExist}
	failed, fatal := w.failures(errors.Join(&capture.SourceError{Source: capture.Source{Path: there}, Err: missing},
		&capture.SourceError{Source: capture.Source{Path: gone}, Err: missing}), nil)
	if fatal != nil || len(failed) != 1 || !failed[there] || !strings.Contains(d.log(), "capture aaaa1111") {
		t.Errorf("failed: %v, %v; log %q", failed, fatal, d.log())
	}
}
