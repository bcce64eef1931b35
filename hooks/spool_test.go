package hooks

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/layers"
)

// TestNotePromise looks at what a hook promises when it ends: its note is in the spool, or somebody has stored what it spoke of.
func TestNotePromise(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("aaaa1111", "Hello")
	w := d.world(strings.NewReader(""), &bytes.Buffer{})
	unlock, ok, err := w.lock()
	for i := 0; err != nil && i < 2; i++ { // the first to come makes the spool
		if err = os.MkdirAll(w.spool(), 0o700); err == nil {
			unlock, ok, err = w.lock()
		}
	}
	if err != nil || !ok {
		t.Fatalf("lock: %v, %v", ok, err)
	}
	d.hook("Stop", "aaaa1111", nil) // somebody else folds
	if n := Spooled(d.store()); n != 1 {
		t.Errorf("%d notes, want that of the hook", n)
	}
	unlock()
	d.work()
	if n := Spooled(d.store()); n != 0 || d.log() != "" {
		t.Errorf("%d notes after the worker: %s", n, d.log())
	}

	n := note{Version: noteVersion, Event: settings.Stop, Session: "aaaa1111", Path: "/x/aaaa1111.jsonl", Cwd: d.cwd, Time: d.now}
	durable, err := w.spoolNote(n)
	if err != nil {
		t.Fatal(err)
	}
	notes, err := w.notes(nil, 2)
	if err != nil || len(notes) != 1 {
		t.Fatalf("notes = %v, %v, want one", notes, err)
	}
	if err := os.Remove(notes[0].file); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := durable(); err != nil {
			t.Errorf("a note that was folded: %v", err)
		}
	}
	if durable, err = w.spoolNote(n); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := durable(); err != nil {
			t.Errorf("a note that stays: %v", err)
		}
	}
	if got, err := readNote(notes[0].file); err != nil || got.Session != "aaaa1111" {
		t.Errorf("readNote = %+v, %v", got, err)
	}
}

// TestWorkerOfNoMemory removes the memory before its worker begins, and while it works: nothing of it comes back.
func TestWorkerOfNoMemory(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	gone := func(when string) {
		t.Helper()
		if _, err := os.Lstat(d.store()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a memory that was removed %s is there again: %v; %s", when, err, d.log())
		}
	}
	d.work()
	gone("before its worker began")
	d.write("aaaa1111", "Hello")
	w := d.world(strings.NewReader(""), &bytes.Buffer{})
	if _, err := w.spoolNote(note{Version: noteVersion, Event: settings.SessionEnd, Session: "aaaa1111", Path: filepath.Join(d.sessions(), "aaaa1111.jsonl"), Cwd: d.cwd, Time: d.now}); err != nil {
		t.Fatal(err)
	}
	opened := 0
	w.Open = func() (*layers.Memory, error) {
		opened++
		return nil, errors.Join(os.RemoveAll(d.store()), errors.New("there is none"))
	}
	Run(w, Work)
	gone("while its worker was at work")
	if _, err := w.open(); err == nil || opened != 1 {
		t.Errorf("opened %d times, %v: whoever opens it may make it", opened, err)
	}
}
