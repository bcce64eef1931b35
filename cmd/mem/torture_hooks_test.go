package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A hooked is a session that Claude Code writes and whose hooks run.
type hooked struct {
	*rig
	*Generator
	file  string
	rng   *rand.Rand
	acked int64 // how long the file was when a hook that ended well began
	runs  int
	kills int
}

func newHooked(r *rig, n, seed uint64) *hooked {
	h := &hooked{rig: r, Generator: NewGenerator(n, "/home/user/hooked"), rng: rand.New(rand.NewPCG(n, 10+seed))}
	h.file = r.write(filepath.Join("claude", "projects", "-home-user-hooked", h.ID+".jsonl"), h.More(4))
	return h
}

// payload is what Claude Code hands to a hook of the session.
func (h *hooked) payload(more map[string]any) []byte {
	fields := map[string]any{"session_id": h.ID, "transcript_path": h.file, "cwd": h.Cwd}
	for k, v := range more {
		fields[k] = v
	}
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err) // maps of strings always encode
	}
	return b
}

// hook runs a hook, and kills it after a time unless that is 0. It reports whether it ended by itself, which must be
// with status 0 and without a word.
func (h *hooked) hook(event string, after time.Duration, more map[string]any) (ended bool) {
	in := h.write(h.ID+".payload", h.payload(more)) // a file: who feeds a pipe can be late on a busy machine
	res := h.Run(h.t.Context(), after, in, []string{h.Bin, "hook", event})
	if res.Code == -1 {
		h.kills++
		return false
	}
	if res.Code != 0 || res.Stderr != "" {
		h.t.Errorf("hook %s: %v", event, res)
	}
	return res.Code == 0
}

// grow lets the session grow.
func (h *hooked) grow() {
	f, err := os.OpenFile(h.file, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.Write(h.More(1 + h.rng.IntN(4)))
		err = closing(f, err)
	}
	if err != nil {
		h.t.Error(err)
	}
}

func closing(c io.Closer, err error) error {
	if closed := c.Close(); err == nil {
		err = closed
	}
	return err
}

// work runs hooks of the session, and kills half of them.
func (h *hooked) work(runs int) {
	events := []string{"Stop", "SubagentStop", "PreCompact", "SessionEnd", "SessionStart"}
	for range runs {
		h.grow()
		fi, err := os.Stat(h.file)
		if err != nil {
			h.t.Error(err)
			return
		}
		var after time.Duration
		if h.rng.IntN(2) == 0 {
			after = time.Duration(h.rng.IntN(60_000)) * time.Microsecond
		}
		event := events[h.rng.IntN(len(events))]
		h.runs++
		if h.hook(event, after, nil) && event != "SessionStart" {
			h.acked = fi.Size()
		}
	}
}

// tortureHooks kills hooks at random, 16 together: each acknowledged state is in memory when the notes are folded,
// and there is nothing to repair.
func tortureHooks(t *testing.T, r *rig) {
	const sessions = 16
	runs := amount(t, 3, 12, 320)
	all := make([]*hooked, sessions)
	var working sync.WaitGroup
	for i := range all {
		all[i] = newHooked(r, uint64(300+i), seed(t))
		working.Go(func() { all[i].work(runs) })
	}
	working.Wait()
	if t.Failed() {
		return
	}
	r.fsck("after the kills")
	began := time.Now()
	if err := r.Drain(t.Context(), func() time.Duration { return time.Since(began) }); err != nil {
		t.Fatal(err)
	}
	total, kills := 0, 0
	for _, h := range all {
		h.check()
		total, kills = total+h.runs, kills+h.kills
	}
	r.fsck("after folding")
	r.gitFsck()
	t.Logf("%d hooks of %d sessions at once, %d killed", total, sessions, kills)
	all[0].patient()
	all[0].small()
}

// check checks that memory contains a beginning of the session, at least up to the acknowledged state.
func (h *hooked) check() {
	h.t.Helper()
	want, err := os.ReadFile(h.file)
	if err != nil {
		h.t.Fatal(err)
	}
	got, err := h.original(h.ID)
	if err != nil && h.acked == 0 {
		return // every hook was killed before it could say of the session
	}
	if err != nil {
		h.t.Fatal(err)
	}
	if int64(len(got)) < h.acked || !bytes.HasPrefix(want, got) {
		h.t.Errorf("memory holds %d bytes of %s, %d were acknowledged, the file has %d; they differ at %d", len(got), h.ID, h.acked, len(want), differ(got, want))
	}
}

// patient checks that a hook whose input never ends does.
func (h *hooked) patient() {
	h.t.Helper()
	for _, event := range []string{"Stop", "PostToolUse"} {
		in, out, err := os.Pipe()
		if err != nil {
			h.t.Fatal(err)
		}
		cmd := exec.Command(h.Bin, "hook", event)
		cmd.Dir, cmd.Env, cmd.Stdin = h.Home, h.Environ(), in
		begin := time.Now()
		err = cmd.Run()
		if took := time.Since(begin); err != nil || took > 2*time.Minute { // that would be a hang
			h.t.Errorf("%s with an input that does not end: %v after %v", event, err, took)
		}
		in.Close()
		out.Close()
	}
}

// small checks that no payload makes a hook large. On a busy machine a hook may come to its time limit before it was looked at:
// then it is asked again.
func (h *hooked) small() {
	h.t.Helper()
	huge := strings.Repeat("x\\\"é", 3<<20)
	for event, more := range map[string]map[string]any{
		"PostToolUse": {"tool_response": map[string]any{"content": huge}}, "Stop": {"last_assistant_message": huge}, "UserPromptSubmit": {"prompt": huge},
		"PostToolUseFailure": {"error": huge}, "SubagentStop": {"last_assistant_message": huge}, "PreCompact": {"custom_instructions": huge},
		"SessionStart": {"session_title": huge}, "SessionEnd": {"reason": huge},
	} {
		payload := h.payload(more)
		kb := 0
		for i := 0; i < 10 && kb == 0; i++ {
			kb = h.peak(event, payload)
		}
		if kb == 0 {
			h.t.Logf("SKIPPED: memory of %s: no /proc here, or it ended early", event)
		} else if kb > 96<<10 { // a payload that is read whole takes three times its size
			h.t.Errorf("%s with a huge payload took %d MB", event, kb>>10)
		} else {
			h.t.Logf("%s with a payload of %d MB: %d MB", event, len(payload)>>20, kb>>10)
		}
	}
}

// peak returns the peak memory in kB of a hook that has read all but the last byte of its payload, 0 if it is unknown.
func (h *hooked) peak(event string, payload []byte) int {
	h.t.Helper()
	cmd := exec.Command(h.Bin, "hook", event)
	cmd.Dir, cmd.Env = h.Home, h.Environ()
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	_, _ = in.Write(payload[:len(payload)-1]) // it may have come to its time limit
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	_, _ = in.Write(payload[len(payload)-1:]) // as above
	in.Close()
	if err := cmd.Wait(); err != nil {
		h.t.Errorf("%s with a huge payload: %v", event, err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kb int
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		return 0
	}
	return kb
}
