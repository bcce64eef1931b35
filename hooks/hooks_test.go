package hooks

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/hooks/settings"
)

// TestBacklogBehindLink lets the client name its directory as a link leads to it: the worker finishes the backlog all the same.
func TestBacklogBehindLink(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("aaaa1111", "Hello")
	d.hook("Stop", "aaaa1111", nil)
	d.write("bbbb2222", "And the printer?")
	w := d.world(strings.NewReader(""), io.Discard)
	w.Claude = filepath.Join(d.dir, "linked")
	if err := os.Symlink(filepath.Join(d.dir, "claude"), w.Claude); err != nil {
		t.Skip(err)
	}
	if err := w.writeBacklog(backlog{Cwd: d.cwd, Path: filepath.Join(d.sessions(), "aaaa1111.jsonl")}); err != nil {
		t.Fatal(err)
	}
	w.Now = time.Now
	Run(w, Work)
	if n := d.stored(); n != 2 || Backlogs(d.store()) != 0 || d.log() != "" {
		t.Errorf("%d sessions, %d places left; %s", n, Backlogs(d.store()), d.log())
	}
}

// TestInputIsRead: whoever writes to a hook that has no use for it gets no broken pipe.
func TestInputIsRead(t *testing.T) {
	t.Parallel()
	rest := strings.Repeat("x", 1<<20)
	for name, in := range map[string]string{"off": `{"session_id":"a"}` + rest, "": `{"cwd":"` + rest} {
		d := newDesk(t)
		d.env = map[string]string{"MEM_HOOK": name}
		stdin := strings.NewReader(in)
		Run(d.world(stdin, io.Discard), "Stop")
		if stdin.Len() > 0 {
			t.Errorf("MEM_HOOK=%s: %d bytes are not read", name, stdin.Len())
		}
	}
}

// TestTornClaim finds a claim that a killed hook left without a time: it expires like others.
func TestTornClaim(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("aaaa1111", "How does the parser work?")
	d.hook("Stop", "aaaa1111", nil)
	w := d.world(strings.NewReader(""), io.Discard)
	file := w.sessionFile("aaaa1111", ".compact")
	for age, want := range map[time.Duration]bool{0: false, time.Minute: true} {
		at := d.now.Add(-age)
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chtimes(file, at, at)); err != nil {
			t.Fatal(err)
		}
		out := d.hook("SessionStart", "aaaa1111", map[string]any{"source": "compact"})
		if got := strings.Contains(out, "parser"); got != want {
			t.Errorf("a claim %v old: handed over %v, want %v; %q %s", age, got, want, out, d.log())
		}
	}
}

// TestLongNote reads a note with the longest paths of a payload, every character of which JSON escapes.
func TestLongNote(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	w := d.world(strings.NewReader(""), io.Discard)
	path := "/" + strings.Repeat("\x01", maxField-1)
	n := note{Version: noteVersion, Event: settings.Stop, Session: "aaaa1111", Path: path, Agent: path, Cwd: path, Time: d.now, Claude: path}
	if _, err := w.spoolNote(n); err != nil {
		t.Fatal(err)
	}
	if notes, err := w.notes(nil, 2); err != nil || len(notes) != 1 {
		t.Errorf("%d notes, %v, want one", len(notes), err)
	}
}

// TestNotAskedOfOff switches capture off for a session in memory: no use of a tool asks for its facts.
func TestNotAskedOfOff(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.settings.Every, d.settings.Ask, d.settings.AskAfterTokens = 1, true, 1
	d.write("aaaa1111", strings.Repeat("How does the parser work? ", 20))
	d.hook("Stop", "aaaa1111", nil)
	d.env = map[string]string{"MEM_CAPTURE": "off"}
	if out := d.hook("PostToolUse", "aaaa1111", nil); out != "" {
		t.Errorf("switched off, it is asked: %s", out)
	}
	d.env = map[string]string{"MEM_CAPTURE": "on"}
	if out := d.hook("PostToolUse", "aaaa1111", nil); !strings.Contains(out, "have no facts") {
		t.Errorf("the test shows nothing: %q %s", out, d.log())
	}
}
