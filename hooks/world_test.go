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
