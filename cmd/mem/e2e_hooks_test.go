//go:build e2e

package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/mcpcmd"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/refs"
)

// A desk is a home and a project of a user with the real client and mem's plugin.
type desk struct {
	*rig
	api    *messagesAPI
	plugin string
	work   string
	env    []string // of the client, besides what it always has
}

// newDesk returns a desk with an API that says one thing, and the plugin.
func newDesk(t *testing.T) *desk {
	dir := homeOf(t)
	store := &Store{Bin: os.Getenv("MEM_E2E_BIN"), Home: dir, Dir: filepath.Join(dir, ".claude-memory"), Path: os.Getenv("PATH")}
	d := &desk{rig: &rig{store, t}, work: filepath.Join(dir, "work")}
	for _, sub := range []string{"tmp", "work"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.api = serveMessages(t, "Three attempts.")
	d.plugin = strings.TrimSpace(d.ok("plugin-path"))
	d.validate()
	return d
}

// insideHooks works with the plugin: whatever becomes of a session, mem has it byte for byte.
func insideHooks(t *testing.T) {
	d := newDesk(t)
	first := d.workOn()
	d.compacts(first)
	d.tellsTheNext(first)
	d.forks(first)
	d.ends(syscall.SIGTERM)
	d.ends(syscall.SIGKILL)
	d.clears()
	d.distils()
	d.quiet()
	d.fsck("after all sessions")
	d.gitFsck()
}

// client prepares a run of the client.
func (d *desk) client(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Getenv("MEM_E2E_CLIENT"), append([]string{"--plugin-dir", d.plugin, "--dangerously-skip-permissions"}, args...)...)
	cmd.Dir = d.work
	tmp := filepath.Join(d.Home, "tmp")
	cmd.Env = []string{
		"HOME=" + d.Home, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TERM=xterm", "TMPDIR=" + tmp, "CLAUDE_CODE_TMPDIR=" + tmp,
		"ANTHROPIC_BASE_URL=" + d.api.url, "ANTHROPIC_API_KEY=dummy-local-key", "IS_SANDBOX=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
	}
	cmd.Env = append(cmd.Env, d.env...)
	return cmd
}

// validate lets the client check the plugin.
func (d *desk) validate() {
	d.t.Helper()
	cmd := d.client()
	cmd.Args = []string{cmd.Path, "plugin", "validate", "--strict", d.plugin}
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Errorf("validate: %v\n%s", err, out)
	}
}

// print runs the client once, without a terminal.
func (d *desk) print(prompt string, args ...string) (answer clientAnswer) {
	d.t.Helper()
	cmd := d.client(append([]string{"-p", prompt, "--output-format", "json"}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		d.t.Fatalf("client %s: %v\nstdout: %s\nstderr: %s", prompt, err, out, &errs)
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		d.t.Fatalf("client printed %q: %v", out, err)
	}
	if s := errs.String(); strings.Contains(s, "hook") {
		d.t.Errorf("%s: the user sees %s", prompt, s)
	}
	return answer
}

// transcripts returns the files of a session.
func (d *desk) transcripts(id string) []string {
	d.t.Helper()
	root := filepath.Join(d.Home, ".claude", "projects", "*", id)
	files, err := filepath.Glob(root + ".jsonl")
	if err != nil || len(files) != 1 {
		d.t.Fatalf("transcripts of %s: %v, %v", id, files, err)
	}
	agents, err := filepath.Glob(filepath.Join(root, "subagents", "*.jsonl"))
	if err != nil {
		d.t.Fatal(err)
	}
	return append(files, agents...)
}

// captured checks that mem has a session and its subagents as the client left them.
func (d *desk) captured(id, when string) {
	d.t.Helper()
	d.waitFor(when+": the spool to be folded", func() bool {
		notes, err := filepath.Glob(filepath.Join(d.Dir, "spool", "*.note"))
		return err == nil && len(notes) == 0
	})
	for _, file := range d.transcripts(id) {
		want, err := os.ReadFile(file)
		if err != nil {
			d.t.Fatal(err)
		}
		d.same(strings.TrimSuffix(filepath.Base(file), ".jsonl"), want, when)
	}
}

// waitFor waits until something is so.
func (d *desk) waitFor(what string, so func() bool) {
	d.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			d.t.Fatalf("waited too long for %s", what)
		}
	}
}

// workOn is a session with tools, a failure, a huge output and a subagent.
func (d *desk) workOn() string {
	d.t.Helper()
	bash := func(command string) []block {
		return []block{{tool: "Bash", in: map[string]any{"command": command, "description": "work"}}}
	}
	big := strings.Repeat("a line of a file that is long\n", 40_000)
	d.api.script(bash("echo hello"), bash("seq 1 20000"), bash("cat nosuch"),
		[]block{{tool: "Write", in: map[string]any{"file_path": filepath.Join(d.work, "big.txt"), "content": big}}},
		[]block{{tool: "Agent", in: map[string]any{"description": "count", "prompt": "Count the files.", "subagent_type": "general-purpose", "run_in_background": false}}},
		bash("ls | wc -l"), []block{{text: "There is 1 file."}}, bash("echo bye"), []block{{text: decision}})
	a := d.print("Do the work. ##keepit1.00## " + decision)
	if a.IsError || a.Result != decision {
		d.t.Errorf("the session ends with %+v", a)
	}
	d.captured(a.SessionID, "after work")
	if n := len(d.transcripts(a.SessionID)); n != 2 {
		d.t.Errorf("%d transcripts, want the session's and its subagent's", n)
	}
	if out := d.ok("ls", "--all-projects", "--subagents", "--json"); !strings.Contains(out, `"parent":"`+a.SessionID+`"`) {
		d.t.Errorf("the subagent is not linked: %s", out)
	}
	return a.SessionID
}

// compacts compacts a session by hand: the request for the summary has no text of memory, the next one has it once. Prompts of a script, as in all of these runs without a
// terminal, contain no markers of the user.
func (d *desk) compacts(id string) {
	d.t.Helper()
	d.calmly("a compaction", func() (wrong string) {
		before := len(d.api.asked())
		d.print("/compact", "--resume", id)
		told := 0
		for _, req := range d.api.asked()[before:] {
			if req.compacts() {
				told++
				if s := lastUser(req); strings.Contains(s, "mem has stored this session word for word") || strings.Contains(s, "The user marked") {
					wrong = "it is asked: ..." + s[max(0, len(s)-600):]
				}
			}
		}
		if told == 0 {
			d.t.Fatal("nobody was asked for a summary")
		}
		return wrong
	})
	d.print("And now the tests.", "--resume", id)
	if n, text := d.told(); n != 1 || !strings.Contains(text, "Edited files") {
		d.t.Errorf("after the compaction the request holds the context %d times: %s", n, text)
	}
	d.captured(id, "after compaction")
}

func lastUser(req apiRequest) string {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		if req.Messages[i].Role == "user" {
			return req.Messages[i].text()
		}
	}
	return ""
}

// tellsTheNext starts another session, which learns of the first, and resumes it, which says the same only once.
func (d *desk) tellsTheNext(first string) {
	d.t.Helper()
	d.calmly("another session", func() string {
		b := d.print("What did we decide?")
		d.captured(b.SessionID, "the next session")
		if n, text := d.told(); n != 1 || !strings.Contains(text, first[:8]) {
			return fmt.Sprintf("it is told %d times: %s", n, text)
		}
		d.print("Again?", "--resume", b.SessionID)
		d.captured(b.SessionID, "the resumed session")
		if n, _ := d.told(); n != 1 {
			return fmt.Sprintf("after it was resumed the request holds the context %d times", n)
		}
		return ""
	})
}

// told returns how often the context of memory is in the last request of a conversation. The client quotes the output of PreCompact as
// the output of /compact, which does not count.
func (d *desk) told() (n int, text string) {
	asked := d.api.asked()
	for i := len(asked) - 1; i >= 0; i-- {
		if len(asked[i].Tools) == 0 {
			continue
		}
		for _, m := range asked[i].Messages {
			for _, c := range m.Content {
				if k := strings.Count(c.Text, "<mem-context "); k > 0 && !strings.HasPrefix(c.Text, "<local-command-stdout>") {
					n, text = n+k, c.Text
				}
			}
		}
		break
	}
	return n, text
}

// forks forks a session: the copy is another session, and its repeated messages do not count as typed again.
func (d *desk) forks(id string) {
	d.t.Helper()
	f := d.print("Another way.", "--resume", id, "--fork-session")
	if f.SessionID == id {
		d.t.Fatalf("the fork is %s itself", id)
	}
	d.captured(f.SessionID, "the fork")
	if out := d.ok("keepit", "list", f.SessionID, "--json"); strings.Contains(out, "heron-4711") {
		d.t.Errorf("the fork has the markers of the first session: %s", out)
	}
}

// ends lets a session be ended by a signal in the middle of a tool.
func (d *desk) ends(sig syscall.Signal) {
	d.t.Helper()
	marker := filepath.Join(d.Home, fmt.Sprintf("running-%d", sig))
	d.api.script([]block{{tool: "Bash", in: map[string]any{"command": "echo one", "description": "work"}}},
		[]block{{tool: "Bash", in: map[string]any{"command": "touch " + marker + " && sleep 30", "description": "wait"}}})
	id := fmt.Sprintf("00000000-0000-4000-8000-0000000000%02d", sig)
	cmd := d.client("-p", "Wait for it.", "--session-id", id)
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.waitFor("the tool to run", func() bool { _, err := os.Stat(marker); return err == nil })
	if err := cmd.Process.Signal(sig); err != nil {
		d.t.Fatal(err)
	}
	cmd.Wait() // says only that it was ended
	d.api.script()
	if sig == syscall.SIGKILL { // no hook has run; the next session catches up
		d.print("What was that?")
	}
	d.captured(id, sig.String())
}

// distils lets a model distil a session that has ended, while nobody waits.
func (d *desk) distils() {
	d.t.Helper()
	for _, kv := range [][2]string{{"distill.engine", "command"}, {"llm.command", "'" + modelAt(d.t, d.Home) + "'"}, {"llm.model", "m1"}, {"llm.price", "3/15"}} {
		d.ok("config", "set", kv[0], kv[1])
	}
	a := d.print("Always sign the commits.")
	d.captured(a.SessionID, "a session that is distilled")
	d.waitFor("mem facts list to show it", func() bool {
		return strings.Contains(d.ok("facts", "list", "--all-projects"), "Always sign the commits.")
	})
	if out := d.ok("rules", "list", "-p", "work"); strings.Contains(out, "Always sign the commits.") {
		d.t.Errorf("what a script typed is a rule: %s", out)
	}
	d.ok("config", "unset", "distill.engine")
}

// quiet checks that no hook had anything to complain of, and that none is left running.
func (d *desk) quiet() {
	d.t.Helper()
	for _, line := range d.troubles() {
		// That one was done again, or by a worker: nothing is lost, as was checked.
		if !tooLate(line) && !strings.Contains(line, refs.ErrLocked.Error()) {
			d.t.Errorf("hooks.log: %s", line)
		}
	}
	d.waitFor("hooks to end", func() bool {
		out, err := exec.Command("pgrep", "-f", d.Bin+" hook ").Output()
		return err != nil || len(bytes.TrimSpace(out)) == 0
	})
	files, err := filepath.Glob(filepath.Join(d.Home, ".claude", "projects", "*", "*.jsonl"))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, bad := range []string{`"hook_non_blocking_error"`, `"hook_cancelled"`, `"hook_blocking_error"`} {
			if bytes.Contains(b, []byte(bad)) {
				d.t.Errorf("%s has %s", f, bad)
			}
		}
	}
}

// calmly does something until it goes right, once more only for a hook that meanwhile came to its time limit, of which the machine is
// to blame: what it does without that must be right.
func (d *desk) calmly(what string, do func() (wrong string)) {
	d.t.Helper()
	for range 10 {
		before := len(d.troubles())
		wrong := do()
		if wrong == "" {
			return
		}
		if late := d.troubles()[before:]; !slices.ContainsFunc(late, tooLate) {
			d.t.Errorf("%s: %s", what, wrong)
			return
		}
		d.t.Logf("%s once more: a hook came to its time limit", what)
	}
	d.t.Errorf("%s: in ten times a hook came to its time limit each time", what)
}

// troubles returns the lines of the hooks' log.
func (d *desk) troubles() []string {
	b, err := os.ReadFile(hookLog(d.Dir))
	if err != nil {
		return nil // nothing went wrong yet
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// tooLate reports whether a line says that a hook came to its time limit.
func tooLate(line string) bool {
	return strings.Contains(line, "time limit") || strings.Contains(line, "deadline")
}

func hookLog(store string) string { return filepath.Join(store, "cache", "hooks.log") }

// clears runs the client in a terminal, where /clear ends a session and begins another.
func (d *desk) clears() {
	d.t.Helper()
	if _, err := exec.LookPath("script"); err != nil {
		d.t.Logf("SKIPPED /clear: no program script: %v", err)
		return
	}
	const before = "00000000-0000-4000-8000-00000000c1ea"
	tty := d.terminal("--dangerously-skip-permissions", "--session-id", before)
	tty.says("first life", func() bool { return d.wasAsked("first life") })
	second := before
	for try := 0; second == before; try++ { // nothing says that /clear was taken, but the session of the next line
		if try == 6 {
			d.t.Fatal("/clear is not taken")
		}
		cleared, after := time.Now().Add(2*time.Second), fmt.Sprintf("life number %d", try+2)
		tty.says("/clear", func() bool { return time.Now().After(cleared) })
		tty.says(after, func() bool { return d.wasAsked(after) })
		d.waitFor("the session after /clear", func() bool { second = d.withPrompt(after); return second != "" })
	}
	tty.exit()
	d.print("Where were we?") // the client writes to a session even after its end
	d.captured(before, "/clear")
	d.captured(second, "after /clear")
}

func (d *desk) wasAsked(text string) bool {
	for _, req := range d.api.asked() {
		if strings.Contains(lastUser(req), text) {
			return true
		}
	}
	return false
}

// withPrompt returns the session in which something was typed.
func (d *desk) withPrompt(text string) string {
	files, err := filepath.Glob(filepath.Join(d.Home, ".claude", "projects", "*", "*.jsonl"))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(text)) {
			return strings.TrimSuffix(filepath.Base(f), ".jsonl")
		}
	}
	return ""
}

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

// served is how the client names a tool of the MCP server of the plugin.
func served(tool string) string { return "mcp__plugin_mem_mem__" + tool }

// insideMCP lets the client start the MCP server that the plugin's .mcp.json names, and call its tools.
func insideMCP(t *testing.T) {
	d := newDesk(t)
	first := d.print(decision)
	d.captured(first.SessionID, "a session to search")

	results := d.calls([]block{{tool: served("search"), in: map[string]any{"query": "heron-4711"}}})
	var found mcpcmd.SearchOut
	if err := json.Unmarshal([]byte(results[0].text()), &found); err != nil || results[0].IsError || len(found.Hits) == 0 {
		t.Fatalf("search answers %+v, %v", results[0], err)
	}
	hit := found.Hits[0]
	if !strings.HasPrefix(hit.Ref, first.SessionID[:8]+"#") || !strings.Contains(hit.Request+hit.Line, "heron-4711") {
		t.Errorf("the first hit is %+v, want what was decided in %s", hit, first.SessionID)
	}

	results = d.calls([]block{{tool: served("show"), in: map[string]any{"ref": hit.Ref}}},
		[]block{{tool: served("show"), in: map[string]any{"ref": "0000000f"}}})
	var page mcpcmd.ShowOut
	if err := json.Unmarshal([]byte(results[0].text()), &page); err != nil || !strings.Contains(page.Text, decision) {
		t.Errorf("show %s answers %+v, %v", hit.Ref, results[0], err)
	}
	if !results[1].IsError || !strings.Contains(results[1].text(), "no session") {
		t.Errorf("show of a session that does not exist answers %+v", results[1])
	}

	d.ok("revoke", first.SessionID, "--reason", "wrong", "--yes")
	results = d.calls([]block{{tool: served("show"), in: map[string]any{"ref": hit.Ref}}})
	if !results[0].IsError || strings.Contains(results[0].text(), "heron-4711") {
		t.Errorf("show of a revoked session answers %+v", results[0])
	}
	d.waitFor("the servers to end", func() bool {
		out, err := exec.Command("pgrep", "-f", d.Bin+" mcp").Output()
		return err != nil || len(bytes.TrimSpace(out)) == 0
	})
}

// calls lets a session load the tools of mem and call some, and returns the results that the client sends back. The
// client offers the tools of servers by name; the model loads them with the tool ToolSearch.
func (d *desk) calls(turns ...[]block) (results []apiBlock) {
	d.t.Helper()
	load := map[string]any{"query": "select:" + served("search") + "," + served("show")}
	d.api.script(append(append([][]block{{{tool: "ToolSearch", in: load}}}, turns...), []block{{text: "Done."}})...)
	if a := d.print("Look it up."); a.Result != "Done." {
		d.t.Fatalf("the session ends with %+v", a)
	}
	asked := d.api.asked()
	for _, m := range asked[len(asked)-1].Messages {
		for _, c := range m.Content {
			if c.Type == "tool_result" {
				results = append(results, c)
			}
		}
	}
	if len(results) != len(turns)+1 {
		d.t.Fatalf("the client sends %d results, want that of ToolSearch and %d: %+v", len(results), len(turns), results)
	}
	return results[1:]
}

// text returns the text of a result.
func (b apiBlock) text() string { return apiMessage{Content: b.Content}.text() }
