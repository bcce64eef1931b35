package hooks

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// TestDamagedProject loses the newest commit of a project: its notes stay, and sessions of others are captured all the same.
func TestDamagedProject(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("aaaa1111", "How does the parser work?")
	d.hook("Stop", "aaaa1111", nil)
	bad, good := d.cwd, filepath.Join(d.dir, "v")
	d.cwd = good
	d.write("bbbb2222", "What is this?")
	d.hook("Stop", "bbbb2222", nil)
	packs := func() map[string]bool {
		files, err := filepath.Glob(filepath.Join(d.store(), "memory.git", "objects", "pack", "*"))
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]bool{}
		for _, f := range files {
			out[f] = true
		}
		return out
	}
	d.cwd = bad
	before := packs()
	d.write("aaaa1111", "How does the parser work?", "And the lexer?")
	d.hook("Stop", "aaaa1111", nil)
	lost := 0
	for f := range packs() {
		if !before[f] {
			lost++
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.RemoveAll(filepath.Join(d.store(), "cache")); lost == 0 || err != nil {
		t.Fatal(lost, err)
	}
	d.write("aaaa1111", "How does the parser work?", "And the lexer?", "And the rest?")
	d.hook("Stop", "aaaa1111", nil)
	if n := Spooled(d.store()); n != 1 {
		t.Fatalf("%d notes of the damaged project, want one; %s", n, d.log())
	}
	d.cwd, d.now = good, d.now.Add(time.Second)
	d.write("bbbb2222", "What is this?", "And that?")
	d.hook("Stop", "bbbb2222", nil)
	if n := d.messages("bbbb2222"); n != 4 || Spooled(d.store()) != 1 {
		t.Errorf("%d messages of the other project, want 4; %d notes; %s", n, Spooled(d.store()), d.log())
	}
	d.write("bbbb2222", "What is this?", "And that?", "And those?")
	d.hook("SessionStart", "cccc3333", nil)
	if n := d.messages("bbbb2222"); n != 6 {
		t.Errorf("%d messages after a start there, want 6; %s", n, d.log())
	}
}
