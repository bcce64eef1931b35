package hooks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/knowledge"
)

// TestBlocks decides whether Stop keeps a session going.
func TestBlocks(t *testing.T) {
	t.Parallel()
	left := func(from, to, tokens, total, unassigned int, reflect bool) knowledge.Pending {
		return knowledge.Pending{From: from, To: to, Tokens: tokens, Total: total, Facts: 3, Unassigned: unassigned, Reflect: reflect}
	}
	before := turn{Blocks: 1, BlockedAt: 5000, BlockedBy: gaps(left(1, 9, 3000, 5000, 0, false))}
	for _, tt := range []struct {
		what     string
		blocking string
		left     knowledge.Pending
		turn     turn
		active   bool
		blocks   bool
	}{
		{"off", "off", left(1, 9, 90_000, 90_000, 3, true), turn{}, false, false},
		{"once, much is left", "once", left(1, 9, 2001, 2001, 0, false), turn{}, false, true},
		{"once, at the threshold", "once", left(1, 9, 2000, 2000, 9, true), turn{}, false, false},
		{"once, it goes on already", "once", left(1, 9, 9000, 9000, 0, false), turn{}, true, false},
		{"once, a second time", "once", left(1, 20, 9000, 24_999, 0, false), before, false, false},
		{"once, 20k more that nobody distilled", "once", left(1, 40, 25_000, 25_000, 0, false), before, false, true},
		{"once, 20k more, nearly all distilled", "once", left(38, 40, 2500, 25_000, 0, false), before, false, false},
		{"once, what was left then and 19k more", "once", left(1, 40, 22_000, 24_000, 0, false), before, false, false},
		{"once, the file was written anew", "once", left(1, 40, 4000, 4000, 0, false), before, false, false},
		{"strict, nothing is lacking", "strict", left(10, 9, 0, 5000, 0, false), turn{}, false, false},
		{"strict, an exchange belongs to nothing", "strict", left(10, 9, 0, 5000, 1, false), turn{}, false, true},
		{"strict, nobody reflected", "strict", left(10, 9, 0, 5000, 0, true), turn{}, false, true},
		{"strict, the last time changed nothing", "strict", left(1, 12, 3100, 5100, 0, false), before, true, false},
		{"strict, the last time changed something", "strict", left(6, 12, 2500, 5100, 0, false), before, true, true},
		{"strict, a later turn", "strict", left(1, 12, 3100, 5100, 0, false), before, false, true},
	} {
		if got := blocks(Settings{Blocking: tt.blocking, AskAfterTokens: 2000}, tt.left, tt.turn, tt.active); got != tt.blocks {
			t.Errorf("%s: blocks = %v, want %v", tt.what, got, tt.blocks)
		}
	}
}

// TestSwitchedOff switches capture off for sessions: nobody captures them later, not the next session that starts, not the
// worker. A session in a directory with a .memignore is left alone by the sessions beside it, too.
func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.settings.Blocking = "strict"
	d.write("open-1", "How does the parser work?")
	d.hook("SessionStart", "open-1", nil)
	d.env = map[string]string{"MEM_CAPTURE": "off"}
	d.hook("SessionStart", "private-1", nil)
	for _, event := range []string{"PostToolUse", "Stop", "PreCompact", "SessionEnd"} {
		d.write("private-1", "My salary is 4711 "+event)
		for range 5 {
			if out := d.hook(event, "private-1", nil); strings.Contains(out, "block") || strings.Contains(out, "mem holds") {
				t.Errorf("%s answers %s", event, out)
			}
		}
	}
	d.hook("Stop", "open-1", nil) // it is in memory, and private from now on
	d.env = nil
	agents := filepath.Join(d.sessions(), "private-1", "subagents")
	if err := os.MkdirAll(agents, 0o700); err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf(`{"type":"user","uuid":"x","timestamp":"2026-01-20T13:00:00Z","cwd":%q,"isSidechain":true,"message":{"role":"user","content":"4711"}}`+"\n", d.cwd)
	if err := os.WriteFile(filepath.Join(agents, "agent-a1.jsonl"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	d.write("open-1", "How does the parser work?", "And what do I earn?")
	if err := os.RemoveAll(filepath.Join(d.store(), "cache")); err != nil {
		t.Fatal(err)
	}
	d.hook("SessionStart", "open-2", nil)
	d.hook("Stop", "private-1", nil)
	d.work()
	if n := d.stored(); n != 1 || d.messages("open-1") != 2 || d.log() != "" {
		t.Errorf("%d sessions, %d messages of the first; %s", n, d.messages("open-1"), d.log())
	}
	d.env = map[string]string{"MEM_CAPTURE": "on"}
	d.hook("Stop", "open-1", nil)
	d.env = nil
	if n := d.messages("open-1"); n != 4 {
		t.Errorf("%d messages after capture is on again; %s", n, d.log())
	}

	repo := d.cwd
	d.cwd = filepath.Join(repo, "secret")
	for _, dir := range []string{filepath.Join(repo, ".git"), d.sessions(), d.cwd} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[remote \"origin\"]\n\turl = https://example.com/a/b.git\n"} {
		if err := os.WriteFile(filepath.Join(repo, ".git", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.write("known-1", "This directory is known")
	d.hook("Stop", "known-1", nil)
	if err := os.WriteFile(filepath.Join(d.cwd, ".memignore"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.write("hidden-1", "Nobody may know")
	d.hook("Stop", "hidden-1", nil)
	d.cwd = repo
	d.hook("SessionStart", "open-3", nil)
	d.work()
	if d.messages("known-1") != 2 || d.messages("hidden-1") != 0 || d.log() != "" {
		t.Errorf("%d and %d messages, want 2 and 0; %s", d.messages("known-1"), d.messages("hidden-1"), d.log())
	}
	if err := os.Remove(filepath.Join(repo, "secret", ".memignore")); err != nil {
		t.Fatal(err)
	}
	d.hook("SessionStart", "open-4", nil)
	if n := d.messages("hidden-1"); n != 2 {
		t.Errorf("%d messages without the file: the test shows nothing", n)
	}
}
