package hooks

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// A desk is a place with a Claude Code directory and a memory, where hooks run in this process.
type desk struct {
	t        *testing.T
	dir      string
	cwd      string
	now      time.Time
	up       time.Duration
	slow     time.Duration // how much time each look at the clock takes
	settings Settings
	detached []string
	env      map[string]string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, dir: dir, cwd: filepath.Join(dir, "w"), now: time.Date(2026, 1, 20, 14, 0, 0, 0, time.UTC)}
	d.settings = Settings{Capture: true, Register: true, Every: 5, AskAfterTokens: 2000, Blocking: "off", ContextSize: 4000, PromptSize: 1500, Recall: true, CaptureProject: func(state.Project) bool { return true }}
	for _, sub := range []string{d.cwd, d.sessions(), filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d *desk) store() string { return filepath.Join(d.dir, "memory") }
func (d *desk) sessions() string {
	return filepath.Join(d.dir, "claude", "projects", capture.ClientDir(d.cwd))
}

func (d *desk) open() (*layers.Memory, error) {
	o := state.Options{Now: func() time.Time { return d.now }, Rand: rand.Reader, Workers: 2, LockTimeout: 5 * time.Minute, Caps: state.Caps{Tokens: -1, Micros: -1}}
	if _, err := os.Stat(filepath.Join(d.store(), "memory.git")); err != nil {
		return layers.Init(context.Background(), d.store(), "desk", o)
	}
	return layers.Open(d.store(), o)
}

// hook runs a hook of a session and returns what it answers.
func (d *desk) hook(event, session string, more map[string]any) string {
	d.t.Helper()
	fields := map[string]any{"session_id": session, "cwd": d.cwd, "transcript_path": filepath.Join(d.sessions(), session+".jsonl")}
	for k, v := range more {
		fields[k] = v
	}
	b, err := json.Marshal(fields)
	if err != nil {
		d.t.Fatal(err)
	}
	var out bytes.Buffer
	Run(d.world(bytes.NewReader(b), &out), event)
	return out.String()
}

// world is the world of a hook at the desk.
func (d *desk) world(in io.Reader, out io.Writer) *World {
	return &World{
		Stdin: in, Stdout: out, Getenv: func(name string) string { return d.env[name] }, Now: func() time.Time { return d.now }, Pid: os.Getpid(),
		Uptime: func() time.Duration { d.up += d.slow + time.Microsecond; return d.up },
		Store:  d.store(), Temp: filepath.Join(d.dir, "tmp"), Claude: filepath.Join(d.dir, "claude"), Open: d.open, Settings: func() (Settings, error) { return d.settings, nil },
		Detach: func(args ...string) error { d.detached = append(d.detached, strings.Join(args, " ")); return nil }, Program: func() string { return "mem" },
		Within: func(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
			return context.WithCancel(ctx)
		},
		After: func(time.Duration, func()) {}, Exit: func() { d.t.Error("ended at the limit") },
	}
}

// work runs what the hooks left to a worker.
func (d *desk) work() {
	d.slow = 0
	d.hook(Work, "x", nil)
}

// write writes a session in which somebody types texts and is answered.
func (d *desk) write(session string, texts ...string) {
	d.t.Helper()
	d.writeAt(d.cwd, filepath.Join(d.sessions(), session+".jsonl"), texts...)
}

// writeAt writes such a session, of a working directory, into a file.
func (d *desk) writeAt(cwd, file string, texts ...string) {
	d.t.Helper()
	session := capture.Source{Path: file}.SessionID()
	var b strings.Builder
	for i, text := range texts {
		quoted, err := json.Marshal(text)
		if err != nil {
			d.t.Fatal(err)
		}
		at := d.now.Add(time.Duration(i-len(texts)) * time.Minute).Format(time.RFC3339)
		fmt.Fprintf(&b, `{"type":"user","uuid":"%s-%d","timestamp":%q,"cwd":%q,"sessionId":%q,"message":{"role":"user","content":%s}}`+"\n", session, i, at, cwd, session, quoted)
		fmt.Fprintf(&b, `{"type":"assistant","uuid":"%s-%da","timestamp":%q,"cwd":%q,"sessionId":%q,"message":{"id":"%s-%d","role":"assistant","content":[{"type":"text","text":"Done."}]}}`+"\n", session, i, at, cwd, session, session, i)
	}
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = os.WriteFile(file, []byte(b.String()), 0o600)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// memory looks into the memory.
func (d *desk) memory(look func(m *layers.Memory, p state.Project)) {
	d.t.Helper()
	m, err := d.open()
	if err != nil {
		d.t.Fatal(err)
	}
	defer m.Close()
	p, _, err := projects.Locate(context.Background(), m.DB, d.cwd)
	if err != nil {
		d.t.Fatal(err)
	}
	look(m, p)
}

// stored returns how many sessions the memory has.
func (d *desk) stored() (n int) {
	d.memory(func(m *layers.Memory, p state.Project) {
		st, err := trust.Outline(context.Background(), m.DB, p.ID)
		if err != nil {
			d.t.Fatal(err)
		}
		n = len(st.Sessions)
	})
	return n
}

// messages returns how many messages of a session the memory has.
func (d *desk) messages(session string) (n int) {
	d.memory(func(m *layers.Memory, p state.Project) {
		if s, err := knowledge.SessionOf(context.Background(), m.DB, p.ID, session); err != nil {
			d.t.Fatal(err)
		} else if s != nil {
			n = s.Now().Scan.Values
		}
	})
	return n
}

// everywhere returns how many messages of a session the memory has, in any project.
func (d *desk) everywhere(session string) (n int) {
	d.memory(func(m *layers.Memory, _ state.Project) {
		projects, err := trust.Projects(context.Background(), m.DB)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, p := range projects {
			if s, err := knowledge.SessionOf(context.Background(), m.DB, p.ID, session); err == nil && s != nil {
				n += s.Now().Scan.Values
			}
		}
	})
	return n
}

// log returns what went wrong in hooks so far.
func (d *desk) log() string {
	b, err := os.ReadFile(LogFile(d.store()))
	if err != nil {
		return ""
	}
	return string(b)
}

// rulesOf makes rules that hold, as the user states them.
func (d *desk) rulesOf(m *layers.Memory, p state.Project, text string, n int) {
	d.t.Helper()
	for i := range n {
		r := permanent.Definition{Type: permanent.TypeRule, Text: fmt.Sprintf("%d %s", i, strings.Repeat(text, 400/len([]rune(text)))), Trust: facts.User, Confidence: 100, State: permanent.Active, ByUser: true}
		if _, err := knowledge.AddRule(context.Background(), m.DB, p, r, false); err != nil {
			d.t.Fatal(err)
		}
	}
}

// contextOf returns the context in the answer of SessionStart.
func contextOf(t *testing.T, out string) string {
	t.Helper()
	var answer struct {
		Output struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatal(err, out)
	}
	return answer.Output.Context
}

// TestOnlyByHand: where sessions are not captured unasked, no hook captures one that memory does not have, nor records its directory; one
// that was added by hand is captured on, and its subagents are.
func TestOnlyByHand(t *testing.T) {
	t.Parallel()
	for _, e := range settings.Events() {
		d := newDesk(t)
		d.write("added-1", "How does the parser work?")
		d.hook("Stop", "added-1", nil) // as by hand
		d.settings.Register, d.settings.Every, d.settings.Distill = false, 1, "claude"
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
