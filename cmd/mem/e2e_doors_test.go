//go:build e2e

package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/capture"
)

// insideDoors checks what mem says of a session of the client: the lists, its usage, its pages. The client then goes on
// with it after its file was deleted, and after its directory was renamed, where mem starts it. It stays one session.
func insideDoors(t *testing.T) {
	d := newDesk(t)
	d.git("init", "-q", "-b", "heron", d.work)
	d.git("-C", d.work, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "one")
	if err := errors.Join(os.MkdirAll(filepath.Join(d.Home, ".claude"), 0o700),
		os.Symlink(".claude", filepath.Join(d.Home, "claude"))); err != nil { // where mem looks outside of a hook
		t.Fatal(err)
	}
	began := time.Now().UTC().Format(time.RFC3339)
	first := d.spends()
	id := first.SessionID
	d.captured(id, "after the work")
	d.lists(id, began)
	d.counts(id)
	d.pages(id)
	d.background(id)

	file := d.transcripts(id)[0]
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{file, strings.TrimSuffix(file, ".jsonl")} {
		if err := os.RemoveAll(gone); err != nil {
			t.Fatal(err)
		}
	}
	if printed := d.ok("-C", d.work, "resume"); printed != "claude --resume "+id+"\n" {
		t.Errorf("mem resume prints %q", printed)
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, before) {
		t.Errorf("mem resume writes another file than was deleted: %v", err)
	}
	asked := len(d.api.asked())
	if again := d.print("And the walrus?", "--resume", id); again.SessionID != id {
		t.Errorf("the client goes on with %+v, want %s", again, id)
	}
	d.reached(asked, "What does the heron eat?")
	d.captured(id, "after its file was deleted")
	d.one(id, "after its file was deleted")

	d.renamed(id)
	d.fsck("after the doors")
}

// spends is a session with a call, an answer of two blocks, and a subagent, of which the API counts each.
func (d *desk) spends() clientAnswer {
	d.t.Helper()
	d.api.script(
		[]block{{text: "I look.", tokens: 1000}, {tool: "Bash", in: map[string]any{"command": "echo fish", "description": "look"}}},
		[]block{{tokens: 500, tool: "Bash", in: map[string]any{"command": "seq 4711 4800", "description": "count", "run_in_background": true}}},
		[]block{{tokens: 2000, tool: "Agent", in: map[string]any{"description": "count", "prompt": "Count the herons.",
			"subagent_type": "general-purpose", "run_in_background": false}}},
		[]block{{to: "Count the herons.", text: "Two herons.", tokens: 4000}},
		[]block{{text: "It eats fish.", tokens: 8000}})
	return d.print("What does the heron eat?")
}

// lists checks mem ls with its options.
func (d *desk) lists(id, began string) {
	d.t.Helper()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-n", "1"}, id + "\n"},
		{[]string{"--branch", "heron"}, id + "\n"},
		{[]string{"--branch", "main"}, ""},
		{[]string{"--since", began}, id + "\n"},
		{[]string{"--until", began}, ""},
	} {
		if got := d.ok(append([]string{"-C", d.work, "ls", "-1"}, tt.args...)...); got != tt.want {
			d.t.Errorf("mem ls -1 %s prints %q, want %q", strings.Join(tt.args, " "), got, tt.want)
		}
	}
	d.wants("what the client writes after the end", []string{"status", "--exit-code"}, "nothing to add")
}

// counts checks that each answer of the API counts once, that of the subagent with its parent.
func (d *desk) counts(id string) {
	d.t.Helper()
	var usage struct {
		Rows []struct {
			Name                      string
			Answers                   int
			InputTokens, OutputTokens int64
			UsdMicros                 int64
			Unpriced                  []string
		}
	}
	out := d.ok("-C", d.work, "stats", "--usage", "--by", "session", "--json")
	if err := json.Unmarshal([]byte(out), &usage); err != nil || len(usage.Rows) != 1 {
		d.t.Fatalf("%v: %s", err, out)
	}
	if r := usage.Rows[0]; r.Name != id || r.Answers != 5 || r.InputTokens != 15500 || r.OutputTokens != 25 || r.UsdMicros == 0 || len(r.Unpriced) > 0 {
		d.t.Errorf("usage: %+v", r)
	}
}

// pages checks the session as a file for an agent that searches files.
func (d *desk) pages(id string) {
	d.t.Helper()
	dir := filepath.Join(d.Home, "pages")
	d.ok("-C", d.work, "export", "--l1", dir)
	found, err := filepath.Glob(filepath.Join(dir, "*"+id+".md"))
	if err != nil || len(found) != 1 {
		d.t.Fatalf("pages: %v, %v", found, err)
	}
	page, err := os.ReadFile(found[0])
	for _, text := range []string{"What does the heron eat?", "It eats fish.", "echo fish"} {
		if !bytes.Contains(page, []byte(text)) {
			d.t.Errorf("the page lacks %q: %v\n%s", text, err, page)
		}
	}
}

// background checks the output of the command in the background: a file of the session, however the client removes its own.
func (d *desk) background(id string) {
	d.t.Helper()
	at := filepath.Join(d.Home, "original", id+".jsonl")
	d.ok("checkout", id+":original", "--files", "-o", at)
	found, err := filepath.Glob(filepath.Join(d.Home, "original", id, "tool-results", "*.output"))
	if err != nil || len(found) != 1 {
		b, _ := os.ReadFile(at)
		for line := range bytes.Lines(b) {
			if bytes.Contains(line, []byte("task-notification")) || bytes.Contains(line, []byte(".output")) {
				d.t.Logf("%.900s", line)
			}
		}
		d.t.Fatalf("outputs in the background: %v, %v", found, err)
	}
	if b, err := os.ReadFile(found[0]); err != nil || !bytes.HasPrefix(b, []byte("4711\n")) || !bytes.Contains(b, []byte("\n4800\n")) {
		d.t.Errorf("the output is %.100q, %v", b, err)
	}
}

// one checks that there is one session.
func (d *desk) one(id, when string) {
	d.t.Helper()
	if got := d.ok("-C", d.work, "ls", "-1"); got != id+"\n" {
		d.t.Errorf("%s there are %q", when, got)
	}
}

// renamed goes on with a session in its directory under another name, where mem starts the client in a terminal.
func (d *desk) renamed(id string) {
	d.t.Helper()
	to := filepath.Join(d.Home, "rookery")
	bin := filepath.Join(d.Home, "bin")
	if err := errors.Join(os.Rename(d.work, to), os.MkdirAll(bin, 0o755),
		os.Symlink(os.Getenv("MEM_E2E_CLIENT"), filepath.Join(bin, "claude"))); err != nil {
		d.t.Fatal(err)
	}
	d.work, d.env = to, []string{"PATH=" + bin + ":/usr/local/bin:/usr/bin:/bin", "MEM_DIR=" + d.Dir}
	asked := len(d.api.asked())
	tty := d.inTerminal(d.Bin, "resume", "--run")
	tty.says("And where does it live?", func() bool { return d.wasAsked("And where does it live?") })
	tty.exit()
	for _, text := range []string{"What does the heron eat?", "And the walrus?"} {
		d.reached(asked, text)
	}
	file := filepath.Join(d.Home, ".claude", "projects", capture.ClientDir(to), id+".jsonl")
	if b, err := os.ReadFile(file); err != nil || !bytes.Contains(b, []byte("And where does it live?")) {
		d.t.Errorf("the client did not go on in %s: %v", file, err)
	}
	d.ok("import", "-q")
	d.one(id, "after its directory was renamed")
	d.wants("after its directory was renamed", []string{"show", id, "--format", "text"}, "And where does it live?", "And the walrus?")
	d.wants("after its directory was renamed", []string{"status", "--exit-code"}, "nothing to add")
}
