package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/state"
)

// recorded returns what the client handed to hooks at every event, and a few that mem takes no part in, for the desk: by the names
// of files in testdata/payloads, such as SessionStart-clear.
func (d *desk) recorded() map[string][]byte {
	d.t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "payloads", "*.json"))
	if err != nil || len(files) < 20 {
		d.t.Fatal(files, err)
	}
	out := map[string][]byte{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			d.t.Fatal(err)
		}
		b = bytes.ReplaceAll(b, []byte("/home/dev/.claude/projects/-home-dev-work"), []byte(d.sessions()))
		out[strings.TrimSuffix(filepath.Base(file), ".json")] = bytes.ReplaceAll(b, []byte("/home/dev/work"), []byte(d.cwd))
	}
	return out
}

// TestRecordedPayloads hands the hooks what the real client hands to them: each reads what encoding/json reads, captures the session, says
// only what the client takes at that event, and has nothing to complain of.
func TestRecordedPayloads(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.settings.Every = 1
	payloads := d.recorded()
	sessions := map[string]bool{}
	for name, b := range payloads {
		var p struct {
			Session    string `json:"session_id"`
			Transcript string `json:"transcript_path"`
			Cwd        string `json:"cwd"`
			Prompt     string `json:"prompt_id"`
			Text       string `json:"prompt"`
			Source     string `json:"source"`
			AgentID    string `json:"agent_id"`
			Agent      string `json:"agent_transcript_path"`
			Last       string `json:"last_assistant_message"`
			Active     bool   `json:"stop_hook_active"`
			Trigger    string `json:"trigger"`
			Input      struct {
				Command string `json:"command"`
				File    string `json:"file_path"`
				Before  string `json:"old_string"`
				After   string `json:"new_string"`
				Content string `json:"content"`
			} `json:"tool_input"`
		}
		if err := json.Unmarshal(b, &p); err != nil {
			t.Fatal(name, err)
		}
		want := Payload{Session: p.Session, Transcript: p.Transcript, Cwd: p.Cwd, Prompt: p.Prompt, Text: p.Text, Source: p.Source, AgentID: p.AgentID, AgentTranscript: p.Agent, LastMessage: p.Last, StopActive: p.Active, Trigger: p.Trigger, Command: p.Input.Command, File: p.Input.File, Before: p.Input.Before, After: p.Input.After + p.Input.Content}
		if got, err := ReadPayload(bytes.NewReader(b), false); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
		if got, err := ReadPayload(bytes.NewReader(b), true); err != nil || got.Session != p.Session || got.Transcript != p.Transcript || got.Cwd != p.Cwd {
			t.Errorf("%s, in brief: %+v, %v; want %+v", name, got, err, want)
		}
		if !sessions[p.Session] {
			d.write(p.Session, "What does session "+p.Session+" say?", p.Last)
		}
		sessions[p.Session] = true
		if p.Agent != "" {
			d.writeAgent(p.Agent, p.Last)
		}
	}
	order := func(name string) int {
		event, _, _ := strings.Cut(name, "-")
		return slices.Index(append([]settings.Event{""}, settings.Events()...), settings.Event(event)) // what mem takes no part in comes first
	}
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range payloads {
			if !yield(name) {
				return
			}
		}
	})
	slices.SortStableFunc(names, func(a, b string) int { return order(a) - order(b) })
	for _, name := range names {
		event, _, _ := strings.Cut(name, "-")
		d.now = d.now.Add(time.Second)
		var out bytes.Buffer
		Run(d.world(bytes.NewReader(payloads[name]), &out), event)
		d.taken(name, settings.Event(event), out.String())
	}
	d.work()
	if n := d.stored(); n != len(sessions)+1 || d.log() != "" {
		t.Errorf("%d sessions are captured of %d and a subagent; %s", n, len(sessions), d.log())
	}
	d.memory(func(m *layers.Memory, p state.Project) {
		s, err := knowledge.SessionOf(context.Background(), m.DB, p.ID, "agent-a3f61ca7dd3c8e8ce")
		if err != nil || s == nil || !sessions[s.Parent()] {
			t.Errorf("the subagent is %v, %v", s, err)
		}
	})
}

// writeAgent writes the transcript of a subagent.
func (d *desk) writeAgent(path, said string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	line := fmt.Sprintf(`{"type":"assistant","uuid":"a","timestamp":"2026-01-20T13:00:00Z","cwd":%q,"isSidechain":true,"message":{"id":"m","role":"assistant","content":[{"type":"text","text":%q}]}}`+"\n", d.cwd, said)
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// taken checks that the client takes an answer: nothing, or at some events JSON that names the event, or plain text before a compaction.
func (d *desk) taken(name string, e settings.Event, out string) {
	d.t.Helper()
	switch {
	case out == "":
	case e == settings.PreCompact:
		if !strings.HasPrefix(out, "mem has stored this session word for word") {
			d.t.Errorf("%s: %s", name, out)
		}
	case e == settings.SessionStart || e == settings.PostToolUse || e == settings.PostToolUseFailure:
		var answer struct {
			Output struct {
				Event settings.Event `json:"hookEventName"`
			} `json:"hookSpecificOutput"`
		}
		if err := json.Unmarshal([]byte(out), &answer); err != nil || answer.Output.Event != e {
			d.t.Errorf("%s: %s", name, out)
		}
	default:
		d.t.Errorf("%s: %s", name, out)
	}
}
