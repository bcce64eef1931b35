package hooks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/refs/disk"
)

// TestWordsAreWhole looks at what hooks leave while they leave it, and while all of it is dropped: nothing is seen, or removed, that
// is half there.
func TestWordsAreWhole(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	w := d.world(strings.NewReader(""), &strings.Builder{})
	w.Now = time.Now
	dir := w.distillDir()
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for j := range 100 {
				if err := writeRequest(filepath.Join(dir, fmt.Sprintf("s%d-%d", i, j)), DistillRequest{Cwd: "/w"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for looking := true; looking; {
		select {
		case <-done:
			looking = false
		default:
		}
		for x := range w.requests(dir) {
			if string(x.text) != `{"cwd":"/w","at":"0001-01-01T00:00:00Z"}` {
				t.Errorf("%s is %q", x.file, x.text)
			}
		}
	}
	if n := len(w.distillRequests()); n != 400 {
		t.Errorf("%d of 400 are there", n)
	}
}

// TestWordsOfNoUse finds what is no word of a session, and removes it; what another process removes meanwhile is no error.
func TestWordsOfNoUse(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("aaaa1111", "Hello")
	d.hook("Stop", "aaaa1111", nil)
	w := d.world(strings.NewReader(""), &strings.Builder{})
	for name, text := range map[string]string{"aaaa1111": `{"cwd":"/w"}`, "bbbb2222": "{", "not a session": "{}", disk.Temporary + "old": "{", disk.Temporary + "new": "{"} {
		file := filepath.Join(w.distillDir(), name)
		if err := os.MkdirAll(w.distillDir(), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		at := d.now
		if name == disk.Temporary+"old" {
			at = at.Add(-2 * time.Hour)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if all := w.distillRequests(); len(all) != 1 || all[0].Session != "aaaa1111" {
		t.Errorf("asked: %+v", all)
	}
	left, err := filepath.Glob(filepath.Join(w.distillDir(), "*"))
	if err != nil || len(left) != 2 || !strings.HasSuffix(left[0], disk.Temporary+"new") || !strings.HasSuffix(left[1], "aaaa1111") {
		t.Errorf("left: %q %v", left, err)
	}
	w.EachDistillRequest(t.Context(), func(a DistillRequest) (bool, error) {
		return true, os.Remove(filepath.Join(w.distillDir(), a.Session)) // as another process might
	})
	if err := w.writeBacklog(backlog{Cwd: d.cwd, Path: filepath.Join(d.sessions(), "aaaa1111.jsonl")}); err != nil {
		t.Fatal(err)
	}
	open := w.Open
	w.Open = func() (*layers.Memory, error) {
		places, err := filepath.Glob(filepath.Join(w.spool(), "*"+backlogSuffix))
		if err != nil || len(places) != 1 || os.Remove(places[0]) != nil {
			t.Errorf("%q: %v", places, err)
		}
		return open()
	}
	if err := w.catchUpBacklogs(t.Context()); err != nil {
		t.Error(err)
	}
	if err := w.close(); err != nil || d.log() != "" {
		t.Error(err, d.log())
	}
}

// TestWorkerFoldsWhatComesLast lets a hook leave a note at the moment when a worker has folded the spool and lets go of it.
func TestWorkerFoldsWhatComesLast(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("aaaa1111", "Hello")
	w := d.world(strings.NewReader(""), &strings.Builder{})
	w.Uptime = func() time.Duration { return 0 }
	if err := os.MkdirAll(w.spool(), 0o700); err != nil {
		t.Fatal(err)
	}
	unlock, ok, err := w.lock()
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	ticks := 0
	w.After = func(_ time.Duration, f func()) {
		if ticks++; ticks == 3 { // who has the lock folds nothing more
			unlock()
		}
		f()
	}
	n := note{Version: noteVersion, Event: settings.Stop, Session: "aaaa1111", Path: filepath.Join(d.sessions(), "aaaa1111.jsonl"), Cwd: d.cwd, Time: d.now}
	durable, err := w.spoolNote(n)
	if err == nil {
		err = durable()
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &run{World: w, event: Work}
	if err := r.drainToEnd(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.close(); err != nil || Spooled(d.store()) != 0 || ticks != 3 {
		t.Errorf("%d notes are left after %d ticks: %v %s", Spooled(d.store()), ticks, err, d.log())
	}
}
