//go:build e2e

package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

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
