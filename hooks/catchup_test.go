package hooks

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/state"
)

// TestCatchUp lets a session start beside many that are not captured: when time runs out it gets its context all the
// same, which says so, and a worker captures the rest.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i := range 2*batchFiles + 3 {
		d.write(fmt.Sprintf("old-%03d", i), fmt.Sprintf("Question number %d about the parser", i))
	}
	d.slow = time.Second
	out := d.hook("SessionStart", "new-1", map[string]any{"source": "startup"})
	n := d.stored()
	if n == 0 || n > 2*batchFiles || Backlogs(d.store()) != 1 || !slices.Equal(d.detached, []string{"hook work"}) {
		t.Fatalf("%d sessions captured, %d places left, started %q; %s", n, Backlogs(d.store()), d.detached, d.log())
	}
	if want := fmt.Sprintf("%d changed session files of this project are being captured in the background", 2*batchFiles+3-n); !strings.Contains(out, want) {
		t.Errorf("the context does not say %q: %s", want, out)
	}
	d.work()
	if n := d.stored(); n != 2*batchFiles+3 || Backlogs(d.store()) != 0 || d.log() != "" {
		t.Errorf("%d sessions after the worker, %d places left; %s", n, Backlogs(d.store()), d.log())
	}
	d.detached = nil
	if out := d.hook("SessionStart", "new-2", nil); len(d.detached) > 0 || strings.Contains(out, "background") {
		t.Errorf("started %q: %s", d.detached, out)
	}
}

// TestGiven lets sessions be given contexts: those that go on with it bring what it tells of nearer, the others do not.
func TestGiven(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("aaaa1111", "How does the parser work?")
	used := func() (by []string) {
		d.memory(func(m *layers.Memory, p state.Project) {
			s, err := knowledge.SessionOf(context.Background(), m.DB, p.ID, "aaaa1111")
			if err != nil || s == nil {
				t.Fatal(s, err)
			}
			by = s.Used.By
		})
		return by
	}
	for _, id := range []string{"bbbb2222", "cccc3333"} {
		if out := d.hook("SessionStart", id, nil); !strings.Contains(out, "aaaa1111") {
			t.Fatalf("context of %s: %s %s", id, out, d.log())
		}
	}
	d.work()
	if by := used(); len(by) > 0 {
		t.Errorf("used by %q, which said nothing", by)
	}
	d.now = d.now.Add(time.Hour)
	d.write("bbbb2222", "And the printer?")
	d.hook("Stop", "bbbb2222", nil)
	d.work()
	d.work()
	if by := used(); !slices.Equal(by, []string{"bbbb2222"}) {
		t.Errorf("used by %q, want bbbb2222; %s", by, d.log())
	}
	d.now = d.now.Add(keepUsage)
	d.work()
	d.write("cccc3333", "Too late?")
	d.hook("Stop", "cccc3333", nil)
	d.work()
	if by := used(); len(by) != 1 || d.log() != "" {
		t.Errorf("used by %q after a week; %s", by, d.log())
	}
}

// TestLastMessage lets Stop run before the client has written what the model said last: a note stays, and the next hook of any
// session captures it. Nothing stays if the message is there, or cannot be told apart.
func TestLastMessage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("aaaa1111", "How does the parser work?")
	for message, left := range map[string]int{"Done.": 0, "ok": 0, "완료했습니다 \"모두\"": 0, "It reads <one> token ahead & no more.": 1} {
		d.hook("Stop", "aaaa1111", map[string]any{"last_assistant_message": message})
		if n := Spooled(d.store()); n != left {
			t.Errorf("%q: %d notes left, want %d; %s", message, n, left, d.log())
		}
		d.work()
	}
	late := "It reads \"one\" token ahead and then decides."
	d.hook("Stop", "aaaa1111", map[string]any{"last_assistant_message": late})
	d.now = d.now.Add(time.Minute)
	d.write("aaaa1111", "How does the parser work?", late)
	d.write("bbbb2222", "Something else")
	d.hook("Stop", "bbbb2222", nil)
	d.memory(func(m *layers.Memory, p state.Project) {
		s, err := knowledge.SessionOf(context.Background(), m.DB, p.ID, "aaaa1111")
		if err != nil || s.Now().Scan.Values != 4 || Spooled(d.store()) != 0 {
			t.Errorf("%d messages, %d notes, %v; %s", s.Now().Scan.Values, Spooled(d.store()), err, d.log())
		}
	})
}

// TestPaces reads what hooks note of their runs, also where writers were killed.
func TestPaces(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("aaaa1111", "Hello")
	d.hook("Stop", "aaaa1111", nil) // makes the memory
	for range 20 {
		d.slow = time.Millisecond
		d.hook("PostToolUse", "aaaa1111", nil)
	}
	d.hook("Stop", "../x", nil)
	got := Timings(d.store())
	var names []string
	for _, p := range got {
		names = append(names, fmt.Sprintf("%s %d %d", p.Event, p.Runs, p.Failed))
		if p.P50 > p.P95 || p.P50 <= 0 || !p.Last.Equal(d.now) {
			t.Errorf("%+v", p)
		}
	}
	if want := []string{"PostToolUse 20 0", "Stop 2 1"}; !slices.Equal(names, want) {
		t.Errorf("Timings = %q, want %q", names, want)
	}
}

// FuzzReadRun reads lines that nobody wrote.
func FuzzReadRun(f *testing.F) {
	f.Add("1768917600 Stop 4120 ok\n")
	f.Add("1768917600 Stop 4120 failed")
	f.Add("x Stop -1 ok\n")
	f.Add("1 Stop 9223372036854775 ok\n")
	f.Add("1 Stop 9223372036854776 ok\n")
	f.Fuzz(func(t *testing.T, line string) {
		e, at, took, failed, ok := parseTiming(line)
		if ok && (took < 0 || e == "" || strings.Contains(string(e), " ") || at.Location() != time.UTC) {
			t.Errorf("parseTiming(%q) = %q %v %v %v", line, e, at, took, failed)
		}
	})
}

// TestAskedMeanwhile lets a session go on and end once more while a model distils it: it is distilled again.
func TestAskedMeanwhile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.settings.Distill = "claude"
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
