package hooks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/hooks/settings"
)

// TestOnlyByHand: where sessions are not captured unasked, no hook captures one that memory does not have, nor records its directory; one
// that was added by hand is captured on, and its subagents are.
func TestOnlyByHand(t *testing.T) {
	t.Parallel()
	for _, e := range settings.Events() {
		d := newDesk(t)
		d.write("added-1", "How does the parser work?")
		d.hook("Stop", "added-1", nil) // as by hand
		d.settings.Register, d.settings.Every, d.settings.Distill = false, 1, true
		here := d.cwd
		d.cwd = filepath.Join(d.dir, "elsewhere")
		d.write("private-1", "My salary is 4711")
		agents := filepath.Join(d.sessions(), "private-1", "subagents")
		line := fmt.Sprintf(`{"type":"user","uuid":"x","timestamp":"2026-01-20T13:00:00Z","cwd":%q,"isSidechain":true,"message":{"role":"user","content":"4711"}}`+"\n", d.cwd)
		agent := filepath.Join(agents, "agent-a1.jsonl")
		if err := os.MkdirAll(agents, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(agent, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		d.hook(string(e), "private-1", map[string]any{"agent_transcript_path": agent})
		d.work()
		if n := d.stored(); n != 0 || Spooled(d.store()) != 0 || d.log() != "" {
			t.Errorf("%s: %d sessions stored, %d notes left; %s", e, n, Spooled(d.store()), d.log())
		}
		if b, err := os.ReadDir(filepath.Join(d.store(), "cache", "distill")); err == nil && len(b) > 0 {
			t.Errorf("%s: %d sessions are to be distilled", e, len(b))
		}
		d.cwd = here
		d.write("added-1", "How does the parser work?", "And the lexer?")
		d.write("private-2", "My salary is 4711")
		d.hook(string(e), "added-1", nil)
		d.hook("SessionStart", "other-1", nil)
		d.work()
		if n := d.stored(); n != 1 || d.messages("added-1") != 4 || d.log() != "" {
			t.Errorf("%s: %d sessions, %d messages of the one added by hand; %s", e, n, d.messages("added-1"), d.log())
		}
	}
}

// TestNoDirectory captures sessions whose directory is none, by what the hook is told and by what their files say.
func TestNoDirectory(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ told, written string }{{"\x00", ""}, {"\x00", "\x00"}, {"", "a\x00b"}, {"/a\x00", "/w"}} {
		d := newDesk(t)
		for _, e := range []settings.Event{settings.PostToolUse, settings.Stop, settings.SessionEnd} {
			d.settings.Every = 1
			id := "lost-" + strings.ToLower(string(e))
			file := filepath.Join(d.sessions(), id+".jsonl")
			d.writeAt(tt.written, file, "Where am I?")
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b = []byte(strings.ReplaceAll(string(b), `\x00`, `\u0000`))
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			d.hook(string(e), id, map[string]any{"cwd": tt.told})
			d.work()
			entries, err := os.ReadDir(filepath.Join(d.store(), "cache"))
			if Spooled(d.store()) != 0 || d.log() != "" {
				t.Errorf("%+v, %s: %d notes, cache %d %v; %s", tt, e, Spooled(d.store()), len(entries), err, d.log())
			}
			if n := d.everywhere(id); n != 2 {
				t.Errorf("%+v, %s: %d messages in memory", tt, e, n)
			}
		}
	}
}
