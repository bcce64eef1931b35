//go:build e2e

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// clientVersion is the client that the test is written for.
const clientVersion = "2.1.332"

// TestE2E lets the real Claude Code take up a transcript that mem composed. The client and a mock of
// its API run in a network namespace that has the loopback interface only, so nothing leaves the
// machine and no account is needed. Run it, or with -run E2E/notes a part of it, with
//
//	MEM_E2E_DIR=/some/cache go test -tags e2e -run E2E -v ./cmd/mem
//
// where MEM_E2E_DIR, if it is set, keeps the installed client (about 400 MB) for the next time, and
// MEM_E2E_BIN names a mem to run instead of a new build.
func TestE2E(t *testing.T) {
	if os.Getenv("MEM_E2E_INSIDE") != "" {
		inside(t)
		return
	}
	for _, tool := range []string{"npm", "unshare", "ip"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: no %s: %v", tool, err)
		}
	}
	space := []string{"unshare", "-n"}
	if os.Geteuid() != 0 {
		space = []string{"unshare", "-r", "-n"}
	}
	if out, err := exec.Command(space[0], append(space[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: %s is not allowed here: %v %s", strings.Join(space, " "), err, out)
	}
	bin := os.Getenv("MEM_E2E_BIN")
	if bin == "" {
		bin = build(t, ".", "mem")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := append(space, self, "-test.run", flag.Lookup("test.run").Value.String(), "-test.v")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "MEM_E2E_INSIDE=1", "MEM_E2E_BIN="+bin, "MEM_E2E_CLIENT="+installClient(t))
	out, err := cmd.CombinedOutput()
	t.Logf("in a namespace of its own:\n%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

// installClient installs the client with npm, without its scripts and in a directory of its own, and
// returns its path.
func installClient(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MEM_E2E_DIR")
	if dir == "" {
		dir = t.TempDir()
	}
	dir = filepath.Join(dir, clientVersion)
	pattern := filepath.Join(dir, "node_modules", "@anthropic-ai", "claude-code-*", "claude")
	if found, err := filepath.Glob(pattern); err == nil && len(found) == 1 {
		return found[0]
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // a network that hangs is no fault either
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "@anthropic-ai/claude-code@"+clientVersion)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: npm cannot install the client: %v\n%s", err, out)
	}
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Skipf("SKIPPED: no client for this system in %s: %v", dir, found)
	}
	return found[0]
}

// decision is the decision of the session: a text that no budget may drop and that is nowhere else.
const decision = "We decided: retries stop after three attempts, code name heron-4711. 결정 완료 🙂"

// inside runs with the loopback interface only.
func inside(t *testing.T) {
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		t.Fatalf("loopback interface: %v %s", err, out)
	}
	t.Run("hooks", insideHooks)
	t.Run("words", insideWords)
	t.Run("engine", insideEngine)
	t.Run("mcp", insideMCP)
	t.Run("resume", insideResume)
	t.Run("notes", insideNotes)
	t.Run("doors", insideDoors)
	t.Run("compose", insideCompose)
}

// insideCompose lets the client go on from a composed transcript.
func insideCompose(t *testing.T) {
	r := newRig(t, os.Getenv("MEM_E2E_BIN"), homeOf(t))
	file := composed(t, r)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	api := serveMessages(t, "Three attempts.")
	answer := resume(t, r, api, file)
	if answer.Result != api.answer || answer.IsError || answer.SessionID == "" {
		t.Errorf("the client ends with %+v", answer)
	}
	checkRequests(t, api, before)
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the client changed %s: %v", file, err)
	}
	forked, err := filepath.Glob(filepath.Join(r.Home, ".claude", "projects", "*", answer.SessionID+".jsonl"))
	if err != nil || len(forked) != 1 {
		t.Fatalf("transcripts of the resumed session: %v, %v", forked, err)
	}
	r.ok("add", forked[0])
	r.fsck("after the resumed session was added")
}

// composed makes two sessions, composes them under a budget and returns the composed transcript.
func composed(t *testing.T, r *rig) string {
	t.Helper()
	w, old := NewGenerator(4711, "/home/u/app"), NewGenerator(4712, "/home/u/app")
	var b strings.Builder
	b.Write(w.More(60))
	w.Record(&b, map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": "##keepit1.00## " + decision}})
	b.Write(w.More(60))
	r.ok("add", r.write(old.ID+".jsonl", old.More(150)))
	r.ok("add", r.write(w.ID+".jsonl", []byte(b.String())))
	r.ok("compose", "ctx", old.ID, w.ID, "--budget", "8k")
	dir := filepath.Join(r.Home, "out")
	r.ok("checkout", "ctx", "-o", dir)
	var found string
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == "composed.jsonl" {
			found = name
		}
		return err
	})
	if err != nil || found == "" {
		t.Fatalf("no composed.jsonl in %s: %v", dir, err)
	}
	checkBudget(t, r, filepath.Dir(found))
	return found
}

// checkBudget checks what composition.json says of the budget.
func checkBudget(t *testing.T, r *rig, dir string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "composition.json"))
	if err != nil {
		t.Fatal(err)
	}
	var c struct{ TotalTokens, TokenBudget, TotalMessages int }
	if err := json.Unmarshal(b, &c); err != nil || c.TokenBudget != 8000 || c.TotalTokens > 8000 || c.TotalTokens < 1000 {
		t.Errorf("composition.json: %+v, %v; want at most 8000 tokens", c, err)
	}
	t.Logf("composed %d messages, %d of %d tokens", c.TotalMessages, c.TotalTokens, c.TokenBudget)
}

// clientAnswer is what the client prints.
type clientAnswer struct {
	Result    string `json:"result"`
	IsError   bool   `json:"is_error"`
	SessionID string `json:"session_id"`
}

// resume lets the client go on from file in a directory that is not its own.
func resume(t *testing.T, r *rig, api *messagesAPI, file string) (answer clientAnswer) {
	t.Helper()
	tmp, work := filepath.Join(r.Home, "tmp"), filepath.Join(r.Home, "work")
	for _, dir := range []string{tmp, work} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(os.Getenv("MEM_E2E_CLIENT"), "-p", "what did we decide?", "--resume", file, "--fork-session", "--output-format", "json")
	cmd.Dir = work
	cmd.Env = []string{
		"HOME=" + r.Home, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TERM=dumb", "TMPDIR=" + tmp, "CLAUDE_CODE_TMPDIR=" + tmp,
		"ANTHROPIC_BASE_URL=" + api.url, "ANTHROPIC_API_KEY=dummy-local-key", "IS_SANDBOX=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("client: %v\nstdout: %s\nstderr: %s", err, out, &errs)
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("client printed %q: %v", out, err)
	}
	return answer
}

// checkRequests checks that all of the composed text reached the API in its order, and that no request
// broke a rule.
func checkRequests(t *testing.T, api *messagesAPI, transcript []byte) {
	t.Helper()
	reached := false
	for i, req := range api.asked() {
		for _, rule := range broken(req.Messages) {
			t.Errorf("request %d: %s", i, rule)
		}
		reached = reached || carries(req.Messages, texts(t, transcript))
	}
	if !reached {
		t.Errorf("the composed text is in none of %d requests", len(api.asked()))
	}
	if len(api.others) > 0 {
		t.Logf("other requests: %v", api.others)
	}
}

// texts returns the texts of a composed transcript.
func texts(t *testing.T, transcript []byte) (list []string) {
	t.Helper()
	for line := range bytes.Lines(transcript) {
		var record struct{ Message apiMessage }
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatal(err)
		}
		for _, b := range record.Message.Content {
			list = append(list, b.Text)
		}
	}
	if !strings.Contains(strings.Join(list, "\n"), decision) {
		t.Fatalf("the decision is not in the composed transcript:\n%s", transcript)
	}
	return list
}

// carries reports whether the messages hold the texts, in order.
func carries(messages []apiMessage, texts []string) bool {
	for _, m := range messages {
		for _, b := range m.Content {
			if len(texts) > 0 && strings.Contains(b.Text, texts[0]) {
				texts = texts[1:]
			}
		}
	}
	return len(texts) == 0
}
