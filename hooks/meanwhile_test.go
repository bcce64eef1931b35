package hooks

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAskedMeanwhile lets a session go on and end once more while a model distils it: it is distilled again.
func TestAskedMeanwhile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.settings.Distill = true
	d.write("aaaa1111", "How does the parser work?")
	d.hook("SessionEnd", "aaaa1111", nil)
	var asked []time.Time
	d.world(strings.NewReader(""), io.Discard).EachDistillRequest(t.Context(), func(a DistillRequest) (bool, error) {
		if asked = append(asked, a.At); len(asked) == 1 {
			d.now = d.now.Add(time.Minute)
			d.hook("SessionEnd", "aaaa1111", nil)
		}
		return true, nil
	})
	if len(asked) != 2 || !asked[1].Equal(d.now) || d.log() != "" {
		t.Errorf("distilled as of %v; %s", asked, d.log())
	}
}

// TestPlaceMeanwhile lets a session start, and leave something behind, at the moment when a worker has looked there for an earlier one: that
// it did so is not forgotten with the other.
func TestPlaceMeanwhile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("aaaa1111", "How does the parser work?")
	d.hook("Stop", "aaaa1111", nil)
	w := d.world(strings.NewReader(""), io.Discard)
	at := backlog{Cwd: d.cwd, Path: filepath.Join(d.sessions(), "aaaa1111.jsonl")}
	leave := func() {
		t.Helper()
		if err := w.writeBacklog(at); err != nil {
			t.Fatal(err)
		}
	}
	leave()
	d.write("bbbb2222", "And the printer?")
	looked := 0
	w.Settings = func() (Settings, error) { // it knows what is behind then
		if looked++; looked == 1 {
			leave()
		}
		return d.settings, nil
	}
	Run(w, Work)
	if n := Backlogs(d.store()); looked == 0 || d.stored() != 2 || n != 1 {
		t.Errorf("%d looks, %d sessions, %d places left, want one; %s", looked, d.stored(), n, d.log())
	}
	d.work()
	if n := Backlogs(d.store()); n != 0 || d.log() != "" {
		t.Errorf("%d places left after the next worker; %s", n, d.log())
	}
}

// acknowledged lets a session grow by a message and a hook acknowledge it while another one folds.
func (d *desk) acknowledged(session string) {
	d.t.Helper()
	d.write(session, "How does the parser work?")
	d.hook("Stop", session, nil)
	unlock, ok, err := d.world(strings.NewReader(""), io.Discard).lock()
	if err != nil || !ok {
		d.t.Fatal(ok, err)
	}
	defer unlock()
	d.write(session, "How does the parser work?", "And the printer?")
	d.hook("Stop", session, nil)
	if n := Spooled(d.store()); n != 1 {
		d.t.Fatalf("%d notes, want that of the hook", n)
	}
}

// TestTwoClients lets a worker of one configuration of the client find what hooks of another one have left: it folds their notes, and
// leaves the place where a session started to the worker of that.
func TestTwoClients(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.acknowledged("aaaa1111")
	w := d.world(strings.NewReader(""), io.Discard)
	if err := w.writeBacklog(backlog{Cwd: d.cwd, Path: filepath.Join(d.sessions(), "aaaa1111.jsonl")}); err != nil {
		t.Fatal(err)
	}
	w.Claude = filepath.Join(d.dir, "other")
	if err := os.MkdirAll(w.projects(), 0o700); err != nil {
		t.Fatal(err)
	}
	Run(w, Work)
	if n := d.messages("aaaa1111"); n != 4 || Spooled(d.store()) != 0 || Backlogs(d.store()) != 1 || d.log() != "" {
		t.Errorf("memory has %d messages, 4 were acknowledged; %d notes and %d places left; %s", n, Spooled(d.store()), Backlogs(d.store()), d.log())
	}
	w.Now = func() time.Time { return time.Now().Add(retryNote) }
	Run(w, Work)
	if n := Backlogs(d.store()); n != 0 {
		t.Errorf("%d places that nobody came back to for a day", n)
	}
}

// TestNoteOfUnseen lets a worker come at a time when nobody can look into the directory of the client: the notes stay.
func TestNoteOfUnseen(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.acknowledged("aaaa1111")
	projects := d.world(nil, nil).projects()
	for _, dir := range []string{projects, d.sessions()} {
		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(dir, dir); err != nil { // whoever follows it gets nowhere
			t.Skip(err)
		}
		d.work()
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(dir+".away", dir); err != nil {
			t.Fatal(err)
		}
		if n := Spooled(d.store()); n != 1 {
			t.Errorf("%d notes after nobody could look into %s, want one; %s", n, dir, d.log())
		}
	}
	d.work()
	if n := d.messages("aaaa1111"); n != 4 {
		t.Errorf("memory has %d messages, 4 were acknowledged; %s", n, d.log())
	}
}
