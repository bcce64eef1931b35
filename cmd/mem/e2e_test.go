//go:build e2e

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

// A messagesAPI answers as the Messages API does, with one text for every request, and keeps what it
// was asked.
type messagesAPI struct {
	url    string
	answer string

	mu       sync.Mutex
	turns    [][]block // what the next requests with tools are answered with, instead of answer
	requests []apiRequest
	others   []string // requests that are none of the Messages API's
}

// A block is a piece of an answer: a text, or a call of a tool.
type block struct {
	text string
	tool string
	in   map[string]any

	to     string                                // the first of a turn: what the last words of its request contain
	within func(body string) (in map[string]any) // makes in from the request
	tokens int                                   // the first of a turn: the size of the request as the API says it
}

// script sets the answers to the next requests of the conversation.
func (a *messagesAPI) script(turns ...[]block) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turns = turns
}

// turn returns the answer to a request.
func (a *messagesAPI) turn(req apiRequest) []block {
	if len(req.Tools) == 0 || len(a.turns) == 0 || req.compacts() {
		return []block{{text: a.answer}}
	}
	last := lastUser(req)
	i := slices.IndexFunc(a.turns, func(turn []block) bool { return strings.Contains(last, turn[0].to) })
	if i < 0 {
		return []block{{text: a.answer}}
	}
	next := a.turns[i]
	a.turns = slices.Delete(a.turns, i, i+1)
	return next
}

// compacts reports whether a request asks for the summary of a conversation.
func (r apiRequest) compacts() bool {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "user" {
			return strings.Contains(r.Messages[i].text(), "detailed summary of")
		}
	}
	return false
}

// text returns all text of a message.
func (m apiMessage) text() string {
	var b strings.Builder
	for _, c := range m.Content {
		b.WriteString(c.Text + "\n")
	}
	return b.String()
}

// An apiRequest is the part of a request that the rules are about.
type apiRequest struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Tools    []json.RawMessage `json:"tools"`
	Messages []apiMessage      `json:"messages"`

	body string // the whole request, for texts that are in no message
}

type apiMessage struct {
	Role    string    `json:"role"`
	Content apiBlocks `json:"content"`
}

// apiBlocks are content blocks; a bare string is read as one text block.
type apiBlocks []apiBlock

type apiBlock struct {
	Type      string    `json:"type"`
	Text      string    `json:"text"`
	ID        string    `json:"id"`
	ToolUseID string    `json:"tool_use_id"`
	Signature string    `json:"signature"`
	IsError   bool      `json:"is_error"`
	Content   apiBlocks `json:"content"` // of a result
}

func (b *apiBlocks) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*b = apiBlocks{{Type: "text", Text: s}}
		return nil
	}
	return json.Unmarshal(raw, (*[]apiBlock)(b))
}

// serveMessages starts an API on the loopback interface until the test ends.
func serveMessages(t *testing.T, answer string) *messagesAPI {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	api := &messagesAPI{url: "http://" + l.Addr().String(), answer: answer}
	srv := &http.Server{Handler: api}
	go srv.Serve(l)                   // ends with ErrServerClosed when the test does
	t.Cleanup(func() { srv.Close() }) // nothing to do about an error at the end
	return api
}

func (a *messagesAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var req apiRequest
	if err == nil && r.Method == http.MethodPost && r.URL.Path == "/v1/messages" {
		err = json.Unmarshal(body, &req)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err != nil:
		a.others = append(a.others, fmt.Sprintf("%s %s: %v", r.Method, r.URL.Path, err))
		http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"mock"}}`, http.StatusBadRequest)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages":
		req.body = string(body)
		a.requests = append(a.requests, req)
		a.reply(w, req, len(body)/4)
	default:
		a.others = append(a.others, r.Method+" "+r.URL.Path)
		http.Error(w, `{"type":"error","error":{"type":"not_found_error","message":"mock"}}`, http.StatusNotFound)
	}
}

// asked returns the requests so far.
func (a *messagesAPI) asked() []apiRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]apiRequest(nil), a.requests...)
}

// reply sends the answer, as a stream if that was asked for.
func (a *messagesAPI) reply(w http.ResponseWriter, req apiRequest, tokens int) {
	type object = map[string]any
	turn := a.turn(req)
	if turn[0].tokens > 0 {
		tokens = turn[0].tokens
	}
	usage := object{"input_tokens": tokens, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	var content []object
	stop, n := "end_turn", len(a.requests)
	for i, b := range turn {
		if b.within != nil {
			b.in = b.within(req.body)
		}
		if b.tool == "" {
			content = append(content, object{"type": "text", "text": b.text})
			continue
		}
		stop = "tool_use"
		content = append(content, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%018d%06d", n, i), "name": b.tool, "input": b.in})
	}
	message := object{"id": fmt.Sprintf("msg_%024d", n), "type": "message", "role": "assistant", "model": req.Model,
		"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage}
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(message) // the client sees what went wrong
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	message["content"], message["stop_reason"] = []object{}, nil
	events := []object{{"type": "message_start", "message": message}}
	for i, c := range content {
		start, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": c["text"]}
		if c["type"] == "tool_use" {
			in, err := json.Marshal(c["input"])
			if err != nil {
				panic(err) // as below
			}
			start = object{"type": "tool_use", "id": c["id"], "name": c["name"], "input": object{}}
			delta = object{"type": "input_json_delta", "partial_json": string(in)}
		}
		events = append(events, object{"type": "content_block_start", "index": i, "content_block": start},
			object{"type": "content_block_delta", "index": i, "delta": delta}, object{"type": "content_block_stop", "index": i})
	}
	events = append(events, object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage}, object{"type": "message_stop"})
	for _, event := range events {
		b, err := json.Marshal(event)
		if err != nil {
			panic(err) // maps of strings and numbers always encode
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], b)
	}
}

// broken returns the rules of the Messages API that messages break. Messages of the role system, which
// newer clients put between the others, do not take part in the conversation.
func broken(messages []apiMessage) (rules []string) {
	var open map[string]bool // calls that the next message must answer
	role, n := "", 0
	for i, m := range messages {
		if m.Role == "system" {
			continue
		}
		if n++; n == 1 && m.Role != "user" {
			rules = append(rules, "the first message is not the user's")
		}
		if len(m.Content) == 0 {
			rules = append(rules, fmt.Sprintf("message %d has no content", i))
		}
		calls, answers := map[string]bool{}, map[string]bool{}
		for _, b := range m.Content {
			switch {
			case b.Type == "text" && strings.TrimSpace(b.Text) == "":
				rules = append(rules, fmt.Sprintf("message %d has an empty text", i))
			case b.Type == "thinking" && b.Signature == "":
				rules = append(rules, fmt.Sprintf("message %d has unsigned thinking", i))
			case b.Type == "tool_use":
				calls[b.ID] = true
			case b.Type == "tool_result":
				answers[b.ToolUseID] = true
				if !open[b.ToolUseID] {
					rules = append(rules, fmt.Sprintf("message %d answers no call", i))
				}
			}
		}
		for id := range open {
			if !answers[id] {
				rules = append(rules, fmt.Sprintf("message %d leaves a call open", i))
			}
		}
		open, role = calls, m.Role
	}
	if role != "user" {
		rules = append(rules, "the last message is not the user's")
	}
	return rules
}

func TestE2EMockKnowsTheRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, messages, want string }{
		{"good", `[{"role":"user","content":"a"},{"role":"system","content":[]},{"role":"assistant","content":[{"type":"tool_use","id":"t"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]`, ""},
		{"nothing", `[]`, "the last message is not the user's"},
		{"assistant first", `[{"role":"assistant","content":"a"},{"role":"user","content":"a"}]`, "the first message is not the user's"},
		{"empty text", `[{"role":"user","content":" \n"}]`, "message 0 has an empty text"},
		{"no content", `[{"role":"user","content":[]}]`, "message 0 has no content"},
		{"unsigned", `[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking"}]},{"role":"user","content":"a"}]`, "message 1 has unsigned thinking"},
		{"open call", `[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t"}]},{"role":"user","content":"a"}]`, "message 2 leaves a call open"},
		{"orphan result", `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]`, "message 0 answers no call"},
	} {
		var messages []apiMessage
		if err := json.Unmarshal([]byte(tt.messages), &messages); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(broken(messages), "; "); got != tt.want {
			t.Errorf("%s: broken = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// insideResume lets the client of one home write a session, and that of another home, with another directory of the same
// repository, go on with it after mem resume. Captured there, it is the same session.
func insideResume(t *testing.T) {
	api := serveMessages(t, "The heron decides.")
	one, two := newRig(t, os.Getenv("MEM_E2E_BIN"), homeOf(t)), newRig(t, os.Getenv("MEM_E2E_BIN"), homeOf(t))
	for _, at := range []*rig{one, two} {
		at.git("init", "-q", checkoutOf(at))
		at.git("-C", checkoutOf(at), "remote", "add", "origin", "git@github.com:dev/shop.git")
	}
	first := ask(t, one, api, checkoutOf(one), "who decides about code name heron-4711?")
	one.ok("import", "-q")
	hub := filepath.Join(one.Home, "hub.git")
	one.git("init", "-q", "--bare", hub)
	one.ok("-C", checkoutOf(one), "remote", "add", "origin", hub)
	one.ok("push", "-y", "--all")
	two.ok("remote", "add", "origin", hub)
	two.ok("pull", "--all-projects")
	var devices struct {
		Devices []struct {
			ID      string
			Trusted bool
		}
	}
	if err := json.Unmarshal([]byte(two.ok("device", "list", "--json")), &devices); err != nil {
		t.Fatal(err)
	}
	for _, d := range devices.Devices {
		if !d.Trusted {
			two.ok("device", "trust", "-y", d.ID)
		}
	}
	printed := two.ok("-C", checkoutOf(two), "resume")
	if want := "claude --resume " + first.SessionID + "\n"; printed != want {
		t.Fatalf("mem resume prints %q, want %q", printed, want)
	}
	before := len(api.asked())
	second := ask(t, two, api, checkoutOf(two), "and who else?", "--resume", first.SessionID)
	if second.SessionID != first.SessionID || second.Result != api.answer {
		t.Errorf("the client goes on with %+v, want session %s", second, first.SessionID)
	}
	reached := false
	for _, req := range api.asked()[before:] {
		for _, rule := range broken(req.Messages) {
			t.Error(rule)
		}
		reached = reached || carries(req.Messages, []string{"who decides about code name heron-4711?", api.answer, "and who else?"})
	}
	if !reached {
		t.Errorf("none of %d requests has the conversation of the other home", len(api.asked())-before)
	}
	two.ok("import", "-q")
	two.ok("import", "-q")
	var list struct {
		Sessions []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(two.ok("-C", checkoutOf(two), "ls", "--json")), &list); err != nil || len(list.Sessions) != 1 {
		t.Errorf("after the capture there are %+v: %v", list, err)
	}
	if shown := two.ok("-C", checkoutOf(two), "show", first.SessionID); !strings.Contains(shown, "heron-4711") || !strings.Contains(shown, "Messages: 4 ") {
		t.Errorf("the session is\n%s", shown)
	}
	two.fsck("after the resumed session was captured")

	// And back: the first home goes on with what the second said, in the same session.
	two.ok("push", "-y", "--all")
	one.ok("pull", "--all-projects")
	if err := json.Unmarshal([]byte(one.ok("device", "list", "--json")), &devices); err != nil {
		t.Fatal(err)
	}
	for _, d := range devices.Devices {
		if !d.Trusted {
			one.ok("device", "trust", "-y", d.ID)
		}
	}
	one.ok("-C", checkoutOf(one), "resume")
	before = len(api.asked())
	third := ask(t, one, api, checkoutOf(one), "and at last?", "--resume", first.SessionID)
	reached = false
	for _, req := range api.asked()[before:] {
		reached = reached || carries(req.Messages, []string{"heron-4711", api.answer, "and who else?", api.answer, "and at last?"})
	}
	if third.SessionID != first.SessionID || !reached {
		t.Errorf("back home the client goes on with %+v, with the turns of both: %v", third, reached)
	}
	one.ok("import", "-q")
	if shown := one.ok("-C", checkoutOf(one), "show", first.SessionID); !strings.Contains(shown, "Messages: 6 ") {
		t.Errorf("back home the session is\n%s", shown)
	}
	if listed := one.ok("-C", checkoutOf(one), "ls", "-1"); strings.Count(listed, "\n") != 1 {
		t.Errorf("back home there are\n%s", listed)
	}
	one.fsck("after the session came back")
}

// checkoutOf returns a directory that has another path in each home.
func checkoutOf(r *rig) string { return filepath.Join(r.Home, "shop") }

func (r *rig) git(args ...string) {
	r.t.Helper()
	if res := r.run(append([]string{"git"}, args...)...); res.Code != 0 {
		r.t.Fatal(res)
	}
}

// ask lets the client of a home answer a prompt in a directory.
func ask(t *testing.T, r *rig, api *messagesAPI, dir, prompt string, more ...string) (answer clientAnswer) {
	t.Helper()
	cmd := exec.Command(os.Getenv("MEM_E2E_CLIENT"), append([]string{"-p", prompt, "--output-format", "json"}, more...)...)
	cmd.Dir = dir
	cmd.Env = []string{
		"HOME=" + r.Home, "CLAUDE_CONFIG_DIR=" + filepath.Join(r.Home, "claude"), "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8",
		"TERM=dumb", "TMPDIR=" + r.Home, "CLAUDE_CODE_TMPDIR=" + r.Home,
		"ANTHROPIC_BASE_URL=" + api.url, "ANTHROPIC_API_KEY=dummy-local-key", "IS_SANDBOX=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
	}
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &answer)
	}
	if err != nil || answer.SessionID == "" {
		t.Fatalf("client: %v\n%s", err, out)
	}
	return answer
}
