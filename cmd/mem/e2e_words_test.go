//go:build e2e

package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// insideWords lets the client write into its transcript what nobody typed, and what the user typed in ways that leave no record of
// a user: the next session, L1 and the pins call it by its author.
func insideWords(t *testing.T) {
	d := newDesk(t)
	d.env = []string{"CLAUDE_CODE_ENTRYPOINT=claude-desktop"} // a person types what is printed here
	for _, tt := range []struct {
		name string
		do   func(*desk)
	}{
		{"background", (*desk).agentInTheBackground},
		{"auto", (*desk).compactsByItself},
		{"manual", (*desk).compactsByHand},
		{"queue", (*desk).queues},
		{"rewind", (*desk).rewinds},
		{"plan", (*desk).acceptsPlan},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := *d
			at.rig = &rig{d.Store, t}
			at.work = filepath.Join(d.Home, tt.name)
			if err := os.MkdirAll(at.work, 0o755); err != nil {
				t.Fatal(err)
			}
			tt.do(&at)
		})
	}
	d.quiet()
	d.fsck("after all words")
}

// handed returns what the next session of the project is told when it begins.
func (d *desk) handed() (text string) {
	d.t.Helper()
	d.calmly("the next session", func() string {
		d.print("What now?")
		var n int
		if n, text = d.told(); n != 1 {
			return fmt.Sprintf("it is told %d times: %s", n, text)
		}
		return ""
	})
	return text
}

// holds checks that a text has all of wanted and nothing of unwanted.
func (d *desk) holds(what, text string, wanted, unwanted []string) {
	d.t.Helper()
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			d.t.Errorf("%s lacks %q:\n%s", what, w, text)
		}
	}
	for _, u := range unwanted {
		if strings.Contains(text, u) {
			d.t.Errorf("%s has %q:\n%s", what, u, text)
		}
	}
}

// said returns the texts of a session's L1 that someone said.
func (d *desk) said(id, role string) (text string) {
	d.t.Helper()
	for line := range strings.Lines(d.ok("-C", d.work, "show", id+":L1", "--format", "jsonl")) {
		var e struct{ Role, Text string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			d.t.Fatal(err)
		}
		if e.Role == role {
			text += e.Text + "\n"
		}
	}
	return text
}

// agentInTheBackground lets an agent work while the session goes on: its text is the result of the call, what the client writes when it
// launches it and announces its end is not there, and a marker in either is nobody's.
func (d *desk) agentInTheBackground() {
	d.api.script(
		[]block{{to: "Count the herons", text: "There are 12 herons. ##keepit1.00## Herons are counted twice."}},
		[]block{{to: "<task-notification>", text: "The agent counted 12 herons."}},
		[]block{{tool: "Agent", in: map[string]any{"description": "count", "prompt": "Count the herons of the lake.", "subagent_type": "general-purpose", "run_in_background": true}}},
		[]block{{text: "I have launched it."}})
	a := d.print("Let an agent count the birds. ##keepit1.00## Birds are counted at dawn.")
	d.captured(a.SessionID, "an agent in the background")
	d.holds("what the user said", d.said(a.SessionID, "user"), []string{"Let an agent count the birds."}, []string{"There are 12 herons", "Count the herons"})
	d.holds("what the assistant said", d.said(a.SessionID, "assistant"), []string{"The agent counted 12 herons."}, nil)
	d.holds("L1", d.ok("-C", d.work, "show", a.SessionID+":L1", "--format", "text"), []string{"Agent count\n=> There are 12 herons."}, []string{"task-notification", "Async agent"})
	d.holds("the hand-over", d.handed(), []string{"- Birds are counted at dawn. [user", "The agent counted 12 herons."}, []string{"counted twice", "task-notification"})
}

// compactsByItself fills the window, so that the client compacts: the summary is nobody's, the user's words before it stay his.
func (d *desk) compactsByItself() {
	bash := func(command string, tokens int) []block {
		return []block{{tool: "Bash", in: map[string]any{"command": command, "description": "work"}, tokens: tokens}}
	}
	d.env = append(d.env, "CLAUDE_CODE_AUTO_COMPACT_WINDOW=100000")
	d.api.script(bash("echo 1", 97_000), bash("echo 2", 99_000), []block{{text: "The stork is weighed."}})
	d.api.answer = "<summary>The user wants ##keepit1.00## every goose sold.</summary>"
	a := d.print("Weigh the stork. ##keepit1.00## Storks weigh grams.")
	d.api.answer = "Three attempts."
	d.captured(a.SessionID, "an automatic compaction")
	b, err := os.ReadFile(d.transcripts(a.SessionID)[0])
	if err != nil || !strings.Contains(string(b), `"trigger":"auto"`) || !strings.Contains(string(b), "every goose sold") {
		d.t.Fatalf("the client did not compact: %v\n%.2000s", err, b)
	}
	d.holds("what the user said", d.said(a.SessionID, "user"), []string{"Weigh the stork."}, []string{"goose", "continued from a previous"})
	d.holds("what the assistant said", d.said(a.SessionID, "assistant"), []string{"The stork is weighed."}, []string{"goose"})
	d.holds("the hand-over", d.handed(), []string{"- Storks weigh grams. [user", "Asked last: “Weigh the stork", "The stork is weighed."}, []string{"goose"})
}

// compactsByHand is the same for a compaction that the user asks for, whose summary the client writes as a prompt.
func (d *desk) compactsByHand() {
	d.api.script([]block{{text: "The crane is weighed."}})
	a := d.print("Weigh the crane. ##keepit1.00## Cranes weigh tons.")
	d.api.answer = "<summary>The user wants ##keepit1.00## every gull sold.</summary>"
	d.print("/compact", "--resume", a.SessionID)
	d.api.answer = "Three attempts."
	d.captured(a.SessionID, "a manual compaction")
	b, err := os.ReadFile(d.transcripts(a.SessionID)[0])
	if err != nil || !strings.Contains(string(b), `"trigger":"manual"`) || !strings.Contains(string(b), "every gull sold") {
		d.t.Fatalf("the client did not compact: %v\n%.2000s", err, b)
	}
	d.holds("what the user said", d.said(a.SessionID, "user"), []string{"Weigh the crane."}, []string{"gull", "continued from a previous"})
	d.holds("what the assistant said", d.said(a.SessionID, "assistant"), []string{"The crane is weighed."}, []string{"gull"})
	d.holds("the hand-over", d.handed(), []string{"- Cranes weigh tons. [user", "Asked last: “Weigh the crane", "The crane is weighed."}, []string{"gull"})
}

// queues types while a tool runs: the prompt has no record of a user, and is his.
func (d *desk) queues() {
	marker := filepath.Join(d.Home, "queueing")
	d.api.script([]block{{tool: "Bash", in: map[string]any{"command": "touch " + marker + "; sleep 4", "description": "wait"}}}, []block{{text: "Both are fed."}})
	const id = "00000000-0000-4000-8000-0000000000e1"
	tty := d.terminal("--dangerously-skip-permissions", "--session-id", id)
	tty.says("Feed the heron.", func() bool { return d.wasAsked("Feed the heron.") })
	d.waitFor("the tool to run", func() bool { _, err := os.Stat(marker); return err == nil })
	tty.says("Then feed the walrus. ##keepit1.00## Walruses eat last.", func() bool { return d.wrote(id, `"operation":"enqueue"`) })
	d.waitFor("the answer", func() bool { return d.wrote(id, "Both are fed.") })
	tty.exit()
	text := d.handed()
	d.captured(id, "a queued prompt")
	b, err := os.ReadFile(d.transcripts(id)[0])
	if err != nil || !strings.Contains(string(b), `"queued_command"`) {
		d.t.Fatalf("the client did not queue: %v\n%.2000s", err, b)
	}
	said := d.said(id, "user")
	d.holds("what the user said", said, []string{"Feed the heron.", "Then feed the walrus."}, nil)
	if n := strings.Count(said, "Then feed the walrus."); n != 1 {
		d.t.Errorf("the queued prompt is there %d times:\n%s", n, said)
	}
	d.holds("the hand-over", text, []string{"- Walruses eat last. [user", "Asked last: “Then feed the walrus."}, nil)
}

// rewinds takes a turn back: it stays stored and is shown as rewound, and gives nothing to the next session.
func (d *desk) rewinds() {
	for _, turn := range []block{{to: "Paint", text: "The heron is painted."}, {to: "Sell the walrus", text: "The walrus is sold."}, {to: "Sell the goose", text: "The goose is sold."}} {
		d.api.turns = append(d.api.turns, []block{turn})
	}
	const id = "00000000-0000-4000-8000-0000000000e2"
	tty := d.terminal("--dangerously-skip-permissions", "--session-id", id)
	tty.says("Paint the heron now.", func() bool { return d.wrote(id, "The heron is painted.") })
	tty.says("Sell the walrus now. ##keepit1.00## Sold is sold.", func() bool { return d.wrote(id, "The walrus is sold.") })
	tty.presses([]string{"\x1b", "\x1b"}, "Rewind")
	tty.presses([]string{"\x1b[A", "\r"}, "unchanged")
	tty.presses([]string{"\r"}, "")
	tty.presses([]string{"\x15", "\x15"}, "") // the prompt that was taken back stands in the line
	tty.says("Sell the goose now.", func() bool { return d.wrote(id, "The goose is sold.") })
	tty.exit()
	text := d.handed()
	d.captured(id, "a rewind")
	d.holds("mem show", d.ok("-C", d.work, "show", id), []string{"user  Paint the heron now.", "[rewound] Sell the walrus now.", "[rewound] The walrus is sold.", "user  Sell the goose now."}, nil)
	d.holds("L1", d.ok("-C", d.work, "show", id+":L1", "--format", "text"), []string{"[rewound] Sell the walrus now.", "[rewound] The walrus is sold.", "\nSell the goose now."}, nil)
	d.holds("the hand-over", text, []string{"Asked last: “Sell the goose now.”", "The goose is sold.", "The heron is painted."}, []string{"walrus", "Sold is sold"})
}

// acceptsPlan accepts a plan and clears the context: the plan that the client sends to the new session is the assistant's.
func (d *desk) acceptsPlan() {
	settings := filepath.Join(d.work, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(`{"showClearContextOnPlanAccept": true}`), 0o600); err != nil {
		d.t.Fatal(err)
	}
	const plan = "# Plan: heron importer\n\n## Steps\n\n1. Count in cents.\n2. ##keepit1.00## Herons are floats.\n"
	file := regexp.MustCompile(`/[^\s"\\]*/\.claude/plans/[a-z-]+\.md`)
	d.api.script(
		[]block{{to: "Implement the following plan", text: "The importer counts in cents."}},
		[]block{{tool: "Write", within: func(body string) map[string]any {
			return map[string]any{"file_path": file.FindString(body), "content": plan}
		}}},
		[]block{{tool: "ExitPlanMode", in: map[string]any{"plan": plan}}})
	const id = "00000000-0000-4000-8000-0000000000e3"
	tty := d.terminal("--permission-mode", "plan", "--session-id", id)
	tty.says("Plan the importer of herons.", func() bool { return d.wrote(id, "ExitPlanMode") })
	tty.presses(nil, "proceed?")
	second := ""
	for try := 0; second == ""; try++ { // the first answer is to clear the context
		if all := tty.shown(); try == 30 {
			d.t.Fatalf("the plan is not sent; the screen ends with %q", all[max(0, len(all)-3000):])
		}
		tty.presses([]string{"\r"}, "")
		time.Sleep(time.Second)
		second = d.withPrompt("The importer counts in cents.")
	}
	tty.exit()
	text := d.handed()
	d.captured(id, "a plan")
	d.captured(second, "an accepted plan")
	b, err := os.ReadFile(d.transcripts(second)[0])
	if err != nil || !strings.Contains(string(b), "Implement the following plan") || second == id {
		d.t.Fatalf("the client did not send the plan of %s to %s: %v\n%.2000s", id, second, err, b)
	}
	d.holds("what the user said", d.said(id, "user")+d.said(second, "user"), []string{"Plan the importer of herons."}, []string{"Count in cents", "Herons are floats", "following plan"})
	d.holds("the hand-over", text, []string{"The importer counts in cents."}, []string{"Herons are floats", "“Implement the following plan"})
	if out := d.ok("-C", d.work, "keepit", "list"); strings.Contains(out, "floats") {
		d.t.Errorf("a plan pins: %s", out)
	}
}

// wrote reports whether the transcript of a session contains a text.
func (d *desk) wrote(id, text string) bool {
	files, err := filepath.Glob(filepath.Join(d.Home, ".claude", "projects", "*", id+".jsonl"))
	if err != nil || len(files) == 0 {
		return false
	}
	b, err := os.ReadFile(files[0])
	return err == nil && strings.Contains(string(b), text)
}

// A terminal is a client with which the user talks.
type terminal struct {
	*desk
	keys   io.Writer
	screen string // the file with all that was shown
	exited chan struct{}
}

// terminal starts the client with the plugin in a terminal.
func (d *desk) terminal(args ...string) terminal {
	return d.inTerminal(append([]string{os.Getenv("MEM_E2E_CLIENT"), "--plugin-dir", d.plugin}, args...)...)
}

// inTerminal starts a program that starts the client in a terminal. Without the program script the test is skipped.
func (d *desk) inTerminal(args ...string) terminal {
	d.t.Helper()
	if _, err := exec.LookPath("script"); err != nil {
		d.t.Skipf("SKIPPED %s: no program script: %v", d.t.Name(), err)
	}
	seed, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "bypassPermissionsModeAccepted": true,
		"customApiKeyResponses": map[string]any{"approved": []string{"dummy-local-key"}},
		"projects":              map[string]any{d.work: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(d.Home, ".claude.json"), seed, 0o600)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	c := d.client()
	at := terminal{desk: d, screen: filepath.Join(d.work, ".screen"), exited: make(chan struct{})}
	cmd := exec.Command("script", "-qfec", "stty cols 120 rows 45; exec "+strings.Join(args, " "), at.screen)
	cmd.Dir = c.Dir
	for _, kv := range c.Env {
		if !strings.HasPrefix(kv, "CLAUDE_CODE_ENTRYPOINT=") { // the client knows what a terminal is
			cmd.Env = append(cmd.Env, kv)
		}
	}
	keys, err := cmd.StdinPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	at.keys = keys
	go func() { cmd.Wait(); close(at.exited) }()
	d.t.Cleanup(func() { keys.Close(); cmd.Process.Kill(); <-at.exited }) // it has ended, or is ended now
	return at
}

// exit ends the client.
func (at terminal) exit() {
	at.t.Helper()
	at.says("/exit", func() bool {
		select {
		case <-at.exited:
			return true
		default:
			return false
		}
	})
}

// says types a line. A terminal that is busy drops keys.
func (at terminal) says(line string, taken func() bool) {
	at.t.Helper()
	last := line[strings.LastIndexByte(line, ' ')+1:]
	at.presses([]string{"\x15", line}, last)
	for end := time.Now().Add(2 * time.Minute); !taken(); {
		if time.Now().After(end) {
			all := at.shown()
			at.t.Fatalf("%q was not taken; the screen ends with %q", line, all[max(0, len(all)-2000):])
		}
		if _, err := io.WriteString(at.keys, "\r"); err != nil && !taken() {
			at.t.Fatal(err)
		}
		for wait := time.Now().Add(3 * time.Second); !taken() && time.Now().Before(wait); time.Sleep(50 * time.Millisecond) {
		}
	}
}

// presses presses keys, again and again until something new is shown. Without a text it only waits a moment, without keys all that was
// shown counts.
func (at terminal) presses(keys []string, shown string) {
	at.t.Helper()
	for range 20 {
		from := 0
		if len(keys) > 0 {
			from = len(at.shown())
		}
		for _, key := range keys {
			if _, err := io.WriteString(at.keys, key); err != nil {
				at.t.Fatal(err)
			}
			time.Sleep(300 * time.Millisecond)
		}
		for range 10 {
			if strings.Contains(at.shown()[from:], shown) {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	all := at.shown()
	at.t.Fatalf("%q does not show %q; the screen ends with %q", keys, shown, all[max(0, len(all)-2000):])
}

func (at terminal) shown() string {
	b, err := os.ReadFile(at.screen)
	if err != nil {
		return "" // nothing yet
	}
	return string(b)
}
