//go:build unix

package main_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDistilledInTheBackground ends sessions while a model is to distil them. SessionEnd does not wait for the model, which
// answers only when this test lets it; the worker has nothing of the hook's; facts, a concept and the proposal of a rule
// come of it; the hooks are off for whatever the model runs; and no process is left, not even one that the model started.
func TestDistilledInTheBackground(t *testing.T) {
	t.Parallel()
	mem, err := exec.LookPath("mem") // whose hooks have all the time they need
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, mem, homeOf(t))
	model := modelAt(t, r.Home)
	gate, asked := filepath.Join(r.Home, "gate"), filepath.Join(r.Home, "asked")
	command := fmt.Sprintf(`sleep 600 >/dev/null 2>&1 & echo "$PPID $! $MEM_HOOK" >>'%s'; until test -e '%s'; do sleep 0.02; done; MODEL_MODE=colleague '%s'`, asked, gate, model)
	for _, kv := range [][2]string{{"distill.engine", "command"}, {"llm.command", command}, {"llm.model", "m1"}, {"llm.price", "3/15"}} {
		r.ok("config", "set", kv[0], kv[1])
	}
	for i := range 3 {
		h := decided(r, i)
		if res := h.Run(t.Context(), 0, r.write("payload", h.payload(map[string]any{"reason": "other"})), []string{r.Bin, "hook", "SessionEnd"}); res.Code != 0 || res.Stdout+res.Stderr != "" {
			t.Fatal(res)
		}
	}
	calls := func() []string {
		b, err := os.ReadFile(asked)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Fields(string(b))
	}
	r.await("the model to be asked", func() bool { return len(calls()) > 0 })
	worker, err := strconv.Atoi(calls()[0])
	if err != nil {
		t.Fatal(err)
	}
	r.onItsOwn(worker)
	if out := r.ok("facts", "list", "--all-projects"); out != "" {
		t.Errorf("facts before the model has answered: %s", out)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.await("the worker to end", func() bool { return gone(worker) })
	for i, word := range calls() {
		if pid, err := strconv.Atoi(word); i%3 != 2 && (err != nil || !gone(pid)) {
			t.Errorf("the process %s is left", word)
		} else if i%3 == 2 && word != "off" {
			t.Errorf("MEM_HOOK is %q for the model", word)
		}
	}
	for _, tt := range []struct {
		want string
		args []string
	}{
		{"\tdecision\tverified\tassistant\t", []string{"facts", "list", "--all-projects"}}, {"c001\tThe work\t", []string{"concepts", "list", "--all-projects"}},
		{"\tproposed\t", []string{"rules", "review", "-p", "decided"}}, {"\t9\t", []string{"cost"}}, // draft, second step and reflection of each of three sessions
	} {
		if out := r.ok(tt.args...); !strings.Contains(out, tt.want) {
			t.Errorf("mem %s prints %q, want %q in it", strings.Join(tt.args, " "), out, tt.want)
		}
	}
	left, err := filepath.Glob(filepath.Join(r.Dir, "cache", "distill", "*"))
	notes, err2 := filepath.Glob(filepath.Join(r.Dir, "spool", "*.note"))
	if b, _ := os.ReadFile(hookLogOf(r.Dir)); err != nil || err2 != nil || len(left)+len(notes)+len(b) > 0 {
		t.Errorf("left: %q %q %v %v; log: %s", left, notes, err, err2, b)
	}
	r.fsck("after the workers")
}

// modelAt puts the model of the scripts at a path where a store can run it, and returns that.
func modelAt(t testing.TB, dir string) string {
	t.Helper()
	self, err := os.Executable()
	model := filepath.Join(dir, "mem-model")
	if err == nil {
		err = os.Symlink(self, model)
	}
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// decided is a session in which the assistant decides what it decides in all of them.
func decided(r *rig, i int) *hooked {
	r.t.Helper()
	const cwd = "/home/user/decided"
	h := &hooked{rig: r, Generator: &Generator{ID: fmt.Sprintf("aaaa%04d-0000-4000-8000-000000000000", i), Cwd: cwd}}
	line := func(n int, role, content string) string {
		return fmt.Sprintf(`{"type":%q,"uuid":"u%d-%d","timestamp":"2026-01-1%dT10:00:%02dZ","cwd":%q,"sessionId":%q,"message":{"id":"m%d-%d","role":%q,"content":%s}}`+"\n", role, i, n, i, n, cwd, h.ID, i, n, role, content)
	}
	about := []string{"the cart", "the checkout", "the report"}[i]
	text := line(1, "user", fmt.Sprintf("%q", "Please look at "+about+".")) + line(2, "assistant", fmt.Sprintf(`[{"type":"text","text":"We decide to keep prices in whole cents, also in %s."}]`, about))
	h.file = r.write(filepath.Join("claude", "projects", "-home-user-decided", h.ID+".jsonl"), []byte(text))
	return h
}

// await waits until something is so.
func (r *rig) await(what string, so func() bool) {
	r.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			log, _ := os.ReadFile(hookLogOf(r.Dir))
			r.t.Fatalf("waited too long for %s; %s", what, log)
		}
	}
}

func hookLogOf(store string) string { return filepath.Join(store, "cache", "hooks.log") }

// gone reports whether a process has ended.
func gone(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		_, rest, _ := strings.Cut(string(stat), ") ")
		return strings.HasPrefix(rest, "Z") // nobody has asked for its status yet
	}
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// onItsOwn checks that a process has its own session and nothing of the pipes of the one that started it.
func (r *rig) onItsOwn(pid int) {
	r.t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		r.t.Logf("SKIPPED: whether the worker is on its own: %v", err)
		return
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	words := strings.Fields(rest) // state, parent, group, session
	if len(words) < 4 || words[3] != strconv.Itoa(pid) || words[1] == strconv.Itoa(os.Getpid()) {
		r.t.Errorf("the worker %d belongs to others: %s", pid, stat)
	}
	for _, fd := range []string{"0", "1", "2"} {
		if to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd)); err != nil || to != os.DevNull {
			r.t.Errorf("its file %s is %s, %v", fd, to, err)
		}
	}
	if out, err := exec.Command("ps", "-ww", "-o", "args=", "-p", strconv.Itoa(pid)).Output(); err == nil && !slices.Equal(strings.Fields(string(out))[1:], []string{"hook", "work"}) {
		r.t.Errorf("the worker is %s", out)
	}
}
