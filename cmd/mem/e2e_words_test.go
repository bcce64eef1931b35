//go:build e2e

package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/capture"
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
	d.waitFor("the hooks of two turns", func() bool { return d.count(id, `"stop_hook_summary"`) == 2 }) // Esc would end one of them
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
func (d *desk) wrote(id, text string) bool { return d.count(id, text) > 0 }

// count returns how often a text is in the transcript of a session.
func (d *desk) count(id, text string) int {
	files, err := filepath.Glob(filepath.Join(d.Home, ".claude", "projects", "*", id+".jsonl"))
	if err != nil || len(files) == 0 {
		return 0
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		return 0
	}
	return strings.Count(string(b), text)
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

// insideNotes lets the client write notes of its own: the hooks capture each of its changes with the session that made
// it, and what a user changed by hand. A worktree has the memory of its repository. What is restored is what the client
// reads.
func insideNotes(t *testing.T) {
	d := newDesk(t)
	d.git("init", "-q", "-b", "main", d.work)
	if err := errors.Join(os.MkdirAll(filepath.Join(d.Home, ".claude"), 0o700),
		os.Symlink(".claude", filepath.Join(d.Home, "claude"))); err != nil { // where mem looks outside of a hook
		t.Fatal(err)
	}
	memory := filepath.Join(d.Home, ".claude", "projects", capture.ClientDir(d.work), "memory")
	file, topic := filepath.Join(memory, "MEMORY.md"), filepath.Join(memory, "prices.md")

	write := func(path, text string) []block {
		return []block{{tool: "Write", in: map[string]any{"file_path": path, "content": text}}}
	}
	d.api.script(write(topic, "Prices are int64 cents.\n"), write(file, "- prices.md: heron cents\n"), []block{{text: "Saved."}})
	first := d.print("remember that prices are cents")
	d.wants("by the session that wrote it", []string{"notes", "log", "MEMORY.md"}, "memory/MEMORY.md@{0}", first.SessionID[:8])
	d.wants("its other note", []string{"notes", "show", "prices.md"}, "Prices are int64 cents.")

	d.api.script([]block{{tool: "Read", in: map[string]any{"file_path": file}}},
		[]block{{tool: "Edit", in: map[string]any{"file_path": file, "old_string": "heron cents", "new_string": "walrus cents"}}},
		[]block{{text: "Changed."}})
	second := d.print("it is the walrus")
	d.wants("the edit", []string{"notes", "diff", "MEMORY.md"}, "-- prices.md: heron cents", "+- prices.md: walrus cents", second.SessionID[:8])

	if err := os.WriteFile(file, []byte("- prices.md: by the user\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.wants("what is not captured", []string{"status"}, "memory/MEMORY.md (+1 -1 lines)")
	before := len(d.api.asked())
	d.print("hello")
	d.wants("a change by hand", []string{"notes", "log", "MEMORY.md"}, "by hand")
	d.reached(before, "by the user")

	d.ok("-C", d.work, "notes", "restore", "MEMORY.md@{1}")
	before = len(d.api.asked())
	d.print("and now?")
	d.reached(before, "walrus cents")

	// In a worktree the client reads the memory of the repository.
	tree := filepath.Join(d.Home, "tree")
	d.git("-C", d.work, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "one")
	d.git("-C", d.work, "worktree", "add", "-q", tree)
	before, d.work = len(d.api.asked()), tree
	d.print("in the tree")
	d.reached(before, "walrus cents")
	d.wants("the notes in a worktree", []string{"notes", "show", "MEMORY.md"}, "walrus cents")
	if err := os.WriteFile(file, []byte("- prices.md: of the tree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.print("again in the tree")
	d.wants("a change seen from a worktree", []string{"notes", "show", "MEMORY.md"}, "of the tree")

	// Auto memory off: nothing is captured.
	settings := filepath.Join(d.Home, ".claude", "settings.json")
	if err := os.WriteFile(settings, []byte(`{"autoMemoryEnabled": false}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("- private\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.print("without memory")
	if out := d.ok("-C", d.work, "notes", "show", "MEMORY.md"); strings.Contains(out, "private") {
		t.Errorf("auto memory is off, and mem has captured\n%s", out)
	}
	d.fsck("after the notes")
}

// wants checks that mem prints some texts in the directory of the work.
func (d *desk) wants(what string, args []string, texts ...string) {
	d.t.Helper()
	out, err := exec.Command("sleep", "1").CombinedOutput() // the worker of SessionEnd
	if err != nil {
		d.t.Fatal(err, out)
	}
	printed := d.ok(append([]string{"-C", d.work}, args...)...)
	for _, text := range texts {
		if !strings.Contains(printed, text) {
			d.t.Errorf("%s: mem %s lacks %q:\n%s", what, strings.Join(args, " "), text, printed)
		}
	}
}

// reached checks that a text reached the API since a request.
func (d *desk) reached(since int, text string) {
	d.t.Helper()
	for _, req := range d.api.asked()[since:] {
		for _, m := range req.Messages {
			if strings.Contains(m.text(), text) {
				return
			}
		}
		if strings.Contains(req.body, text) {
			return
		}
	}
	d.t.Errorf("the client did not read %q", text)
}

// An engineDesk is where mem compresses with the real client, which finds the mock of its API.
type engineDesk struct {
	t   *testing.T
	dir string
	api *messagesAPI
}

// run runs mem, which finds the client on its path.
func (d engineDesk) run(args ...string) (string, error) {
	cmd := exec.Command(os.Getenv("MEM_E2E_BIN"), args...)
	cmd.Dir = d.dir
	tmp := filepath.Join(d.dir, "tmp")
	cmd.Env = []string{
		"HOME=" + d.dir, "PATH=" + filepath.Join(d.dir, "bin") + ":/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TERM=dumb", "TMPDIR=" + tmp, "CLAUDE_CODE_TMPDIR=" + tmp,
		"ANTHROPIC_BASE_URL=" + d.api.url, "ANTHROPIC_API_KEY=dummy-local-key", "IS_SANDBOX=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("mem %s: %w\n%s%s", strings.Join(args, " "), err, out, &errs)
	}
	return string(out), err
}

func (d engineDesk) ok(args ...string) string {
	d.t.Helper()
	out, err := d.run(args...)
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

// says lets the API answer the next request with segments: by the tool that the client gives for its schema, or as text.
func (d engineDesk) says(segments ...map[string]any) {
	d.answers(map[string]any{"segments": segments})
}

// answers lets the API answer the next request with an object.
func (d engineDesk) answers(in map[string]any) {
	b, err := json.Marshal(in)
	if err != nil {
		d.t.Fatal(err)
	}
	d.api.mu.Lock()
	defer d.api.mu.Unlock()
	d.api.answer = string(b)
	d.api.turns = append(d.api.turns, []block{{tool: "StructuredOutput", in: in}})
}

// insideEngine compresses a session with the real client: its answer is checked, stored and reproduced without the client. An
// invented answer is refused and asked for again; the second time the built-in engine writes the text.
func insideEngine(t *testing.T) {
	d := engineDesk{t, t.TempDir(), serveMessages(t, "")}
	for _, sub := range []string{"tmp", "bin"} {
		if err := os.MkdirAll(filepath.Join(d.dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(os.Getenv("MEM_E2E_CLIENT"), filepath.Join(d.dir, "bin", "claude")); err != nil {
		t.Fatal(err)
	}
	w := NewGenerator(4715, "/home/u/app")
	file := filepath.Join(d.dir, w.ID+".jsonl")
	if err := os.WriteFile(file, w.More(60), 0o600); err != nil {
		t.Fatal(err)
	}
	d.ok("init")
	d.ok("add", file)
	n, text := firstTyped(t, d.ok("show", w.ID+":L1", "--format", "jsonl"))

	d.says(map[string]any{"role": "user", "messages": []int{n}, "text": text})
	d.answers(map[string]any{"answers": []any{map[string]any{"id": "s:1", "answer": "supported", "text": "", "why": ""}}})
	made := compressed(t, d.ok("compress", w.ID, "--ratio", "5", "--engine", "claude", "--model", "sonnet", "--json"))
	if !strings.HasPrefix(made.Engine, "claude/3 (sonnet") || made.Receipt.Requests != 2 || made.Receipt.Replaced+made.Receipt.Unchecked != 0 {
		t.Errorf("compress says %+v", made)
	}
	if got := d.ok("show", w.ID+":"+made.Version, "--format", "text"); !summary(n, text).MatchString(got) {
		t.Errorf("the version is %q, the client said %q", got, text)
	}
	asked := len(d.api.asked())
	d.checkAsked(text)
	if out := d.ok("fsck", "--reproduce", w.ID+":"+made.Version); !strings.Contains(out, "same") {
		t.Errorf("made once more: %s", out)
	}
	if again := compressed(t, d.ok("compress", w.ID, "--ratio", "5", "--engine", "claude", "--model", "sonnet", "--json")); !again.Existed || again.Version != made.Version {
		t.Errorf("the same once more is %+v", again)
	}
	if now := len(d.api.asked()); now != asked {
		t.Errorf("%d requests for what was there", now-asked)
	}

	d.says(map[string]any{"role": "assistant", "messages": []int{n}, "text": "Everything is in internal/heron/nest4711.go now."})
	d.says(map[string]any{"role": "assistant", "messages": []int{999999}, "text": "It is done."})
	refused := compressed(t, d.ok("compress", w.ID, "--ratio", "6", "--engine", "claude", "--model", "sonnet", "--json"))
	if refused.Receipt.Replaced != 1 || refused.Receipt.Again != 1 {
		t.Errorf("an answer that is made up: %+v", refused)
	}
	if got := d.ok("show", w.ID+":"+refused.Version, "--format", "text"); strings.Contains(got, "heron") || len(got) < 100 {
		t.Errorf("in its place stands %q", got)
	}
	if out := d.ok("fsck", "--reproduce", "--all"); !strings.Contains(out, "0 differ, 0 could not") {
		t.Errorf("made once more: %s", out)
	}
	if out := d.ok("cost", "--json"); !strings.Contains(out, `"requests":`) || strings.Contains(out, `"requests":0`) {
		t.Errorf("cost: %s", out)
	}
	if left, err := filepath.Glob(filepath.Join(d.dir, ".claude", "projects", "*", "*.jsonl")); err != nil || len(left) > 0 {
		t.Errorf("the client left sessions: %v, %v", left, err)
	}
	if left, err := os.ReadDir(filepath.Join(d.dir, "tmp")); err == nil {
		for _, f := range left {
			if strings.HasPrefix(f.Name(), "mem-claude-") {
				t.Errorf("mem left %s", f.Name())
			}
		}
	}
}

// checkAsked checks that the client sent the session as data, with no tool that can be used but the one for its answer.
func (d engineDesk) checkAsked(text string) {
	d.t.Helper()
	found := false
	for _, req := range d.api.asked() {
		for _, tool := range req.Tools {
			if !bytes.Contains(tool, []byte(`"StructuredOutput"`)) && !bytes.Contains(tool, []byte("never call this tool")) {
				d.t.Errorf("the client has a tool: %.200s", tool)
			}
		}
		for _, m := range req.Messages {
			said := m.text()
			i, k := strings.Index(said, "=== record "), strings.Index(said, text)
			found = found || i >= 0 && k > i && strings.LastIndex(said, "=== end ") > k
		}
	}
	if !found {
		d.t.Errorf("the session is in none of %d requests", len(d.api.asked()))
	}
}

// compressedBy is the part of what mem compress --json prints that matters here.
type compressedBy struct {
	Version, Engine string
	Existed         bool
	Receipt         struct {
		Requests, Replaced, Unchecked int
		Again                         int `json:"asked_again"`
	}
}

func compressed(t *testing.T, out string) (c compressedBy) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	return c
}

// summary matches a version of one text that a model wrote from one message: it says so, and the text is not the user's.
func summary(n int, text string) *regexp.Regexp {
	return regexp.MustCompile(fmt.Sprintf(`^\[summary by claude-sonnet-[0-9-]+ of #%d\] %s\n$`, n, regexp.QuoteMeta(text)))
}

// firstTyped returns the number and the beginning of the first message that the user typed.
func firstTyped(t *testing.T, l1 string) (int, string) {
	t.Helper()
	for line := range strings.Lines(l1) {
		var e struct {
			N          int
			Role, Text string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if words := strings.Fields(e.Text); e.Role == "user" && len(words) > 3 {
			return e.N, strings.Join(words[:4], " ")
		}
	}
	t.Fatalf("nothing typed in %.300s", l1)
	return 0, ""
}
