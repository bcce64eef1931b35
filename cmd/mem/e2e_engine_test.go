//go:build e2e

package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

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
	in := map[string]any{"segments": segments}
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
	made := compressed(t, d.ok("compress", w.ID, "--ratio", "5", "--engine", "claude", "--model", "sonnet", "--json"))
	if !strings.HasPrefix(made.Engine, "claude/2 (sonnet") || made.Receipt.Requests == 0 || made.Receipt.Replaced != 0 {
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
		Requests, Replaced int
		Again              int `json:"asked_again"`
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
