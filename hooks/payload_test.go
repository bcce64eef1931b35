package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/state"
)

const head = `{"session_id":"5f0e0c1a-0000-4000-8000-00000000000a","transcript_path":"/home/u/.claude/projects/-w/5f0e0c1a-0000-4000-8000-00000000000a.jsonl","cwd":"/w"`

// TestReadPayload reads one payload of every event, with members that nobody here knows.
func TestReadPayload(t *testing.T) {
	t.Parallel()
	base := Payload{Session: "5f0e0c1a-0000-4000-8000-00000000000a", Transcript: "/home/u/.claude/projects/-w/5f0e0c1a-0000-4000-8000-00000000000a.jsonl", Cwd: "/w"}
	with := func(f func(*Payload)) Payload { p := base; f(&p); return p }
	for _, tt := range []struct {
		name, rest string
		want       Payload
	}{
		{"SessionStart", `,"hook_event_name":"SessionStart","source":"resume","seconds_since_last_response":18205,"prompt_cache_likely_expired":true,"estimated_cache_write_usd":0.0628}`, with(func(p *Payload) { p.Source = "resume" })},
		{"UserPromptSubmit", `,"prompt_id":"p1","permission_mode":"plan","prompt":"say \"hi\"\n{]"}`, with(func(p *Payload) { p.Prompt, p.Text = "p1", "say \"hi\"\n{]" })},
		{"PostToolUse", `,"effort":{"level":"medium"},"tool_name":"Bash","tool_input":{"command":"ls | wc -l"},"tool_response":{"stdout":"0","list":[1,-2.5e+3,[],{},null,false]},"duration_ms":63}`, with(func(p *Payload) { p.Command = "ls | wc -l" })},
		{"PreToolUse", `,"tool_name":"Edit","tool_input":{"file_path":"/w/a.go","old_string":"x","new_string":"y","replace_all":false}}`,
			with(func(p *Payload) { p.File, p.Before, p.After = "/w/a.go", "x", "y" })},
		{"PostToolUseFailure", `,"tool_name":"Bash","error":"Exit code 3","is_interrupt":false}`, base},
		{"SubagentStop", `,"agent_id":"a1","stop_hook_active":false,"agent_transcript_path":"/x/agent-a1.jsonl","last_assistant_message":"done","background_tasks":[],"session_crons":[]}`,
			with(func(p *Payload) { p.AgentID, p.AgentTranscript, p.LastMessage = "a1", "/x/agent-a1.jsonl", "done" })},
		{"PreCompact", `,"trigger":"auto","custom_instructions":null}`, with(func(p *Payload) { p.Trigger = "auto" })},
		{"Stop", `,"stop_hook_active":true,"last_assistant_message":"마침 \ud83d\ude42 \u00e9"}`, with(func(p *Payload) { p.StopActive, p.LastMessage = true, "마침 🙂 é" })},
		{"SessionEnd", `,"reason":"prompt_input_exit"}`, base},
		{"a member twice", `,"session_id":"other"}`, base},
		{"other kinds of values", `,"source":7,"agent_id":null,"prompt_id":["x"],"stop_hook_active":"true"}`, base},
	} {
		for _, r := range []io.Reader{strings.NewReader(head + tt.rest), iotest.OneByteReader(strings.NewReader(head + tt.rest))} {
			got, err := ReadPayload(r, false)
			if err != nil || got != tt.want {
				t.Errorf("%s: %+v, %v; want %+v", tt.name, got, err, tt.want)
			}
		}
	}
}

func TestReadPayloadRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing": "", "white space": " \n", "an array": "[]", "a word": "null", "truncated": head, "truncated text": head + `,"prompt":"abc`, "truncated escape": head + `,"prompt":"\`,
		"no colon": `{"a" 1}`, "no key": `{1:2}`, "an escape that is none": `{"session_id":"\q"}`, "bad hex": `{"session_id":"\u12g4"}`,
		"long session": `{"session_id":"` + strings.Repeat("a", maxField+1) + `"}`, "no UTF-8": "{\"cwd\":\"\xff\xfe\"}", "garbage": "{\"a\":@}", "a comma too many": `{"a":,}`,
	} {
		if p, err := ReadPayload(strings.NewReader(text), false); err == nil {
			t.Errorf("%s: %+v, want an error", name, p)
		} else if strings.Contains(err.Error(), "abc") {
			t.Errorf("%s: the error %q holds content", name, err)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error %q is two", name, err)
		} else if want := "payload: empty"; (err.Error() == want) != (strings.TrimSpace(text) == "") {
			t.Errorf("%s: the error is %q; %q says that there was nothing", name, err, want)
		}
	}
}

// TestBriefReadsLittle lets a payload of 64 MB stand behind what is wanted: it is not read.
func TestBriefReadsLittle(t *testing.T) {
	t.Parallel()
	read := 0
	endless := readerFunc(func(b []byte) (int, error) { read += len(b); clear(b); return len(b), nil })
	p, err := ReadPayload(io.MultiReader(strings.NewReader(head+`,"tool_input":{"content":"`), endless), true)
	if err != nil || p.Cwd != "/w" || read > 64<<10 {
		t.Errorf("%+v, %v after %d bytes more", p, err, read)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// FuzzReadPayload compares with encoding/json where that can read the text, and must not fail otherwise than by an error.
func FuzzReadPayload(f *testing.F) {
	f.Add([]byte(head + `,"stop_hook_active":true,"last_assistant_message":"\ud83d\ude42","x":{"y":[1,"\\\"",{}]}}`))
	f.Add([]byte(`{"session_id":"a","cwd":"\u0000/w","prompt_id":"\ud800x"} trailing`))
	f.Add([]byte("{\"source\": \"\xff\" , \"a\":-0.1e5}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ReadPayload(bytes.NewReader(b), false)
		if err != nil && (p != Payload{}) {
			t.Errorf("%+v with the error %v", p, err)
		}
		brief, briefErr := ReadPayload(bytes.NewReader(b), true)
		if err == nil && (briefErr != nil || brief.Session != p.Session || brief.Transcript != p.Transcript || brief.Cwd != p.Cwd) {
			t.Errorf("brief: %+v, %v; whole: %+v", brief, briefErr, p)
		}
		var v map[string]any
		dec := json.NewDecoder(bytes.NewReader(b))
		if dec.Decode(&v) != nil || v == nil || !utf8.Valid(b) || bytes.Count(b, []byte("session_id")) > 1 {
			return
		}
		want, _ := v["session_id"].(string)
		if len(want) <= maxField && !bytes.Contains(b, []byte(`\u`)) && p.Session != want && err == nil {
			t.Errorf("session %q, encoding/json reads %q", p.Session, want)
		}
	})
}

func TestParseEvent(t *testing.T) {
	t.Parallel()
	for _, e := range settings.Events() {
		for _, name := range []string{string(e), e.Arg()} {
			if got, ok := settings.ParseEvent(name); !ok || got != e {
				t.Errorf("ParseEvent(%q) = %q, %v", name, got, ok)
			}
		}
	}
	if _, ok := settings.ParseEvent("Notification"); ok {
		t.Error("mem takes no part in Notification")
	}
}

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
		if !strings.HasPrefix(out, "<mem-context ") {
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
