package hooks

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/memvcs/mem/hooks/settings"
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
