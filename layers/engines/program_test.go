//go:build unix

package engines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/answers"
)

// TestMain is also the programs that the tests run: MEM_FAKE says which.
func TestMain(m *testing.M) {
	switch os.Getenv("MEM_FAKE") {
	case "":
		os.Exit(m.Run())
	case "claude":
		fakeClaude(os.Args[1:])
	case "command":
		fakeCommand()
	}
}

// fakeClaude behaves as the client does, or as MEM_FAKE_MODE says, and leaves what it was given in MEM_FAKE_LOG.
func fakeClaude(args []string) {
	mode := os.Getenv("MEM_FAKE_MODE")
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	inside, err := os.ReadDir(dir)
	if err != nil {
		panic(err)
	}
	b, err := json.Marshal(map[string]any{"args": args, "env": os.Environ(), "files": len(inside), "dir": dir, "prompt": string(prompt), "pgid": syscall.Getpgrp(), "pid": os.Getpid()})
	if err != nil {
		panic(err)
	}
	if log := os.Getenv("MEM_FAKE_LOG"); log != "" {
		if err := os.WriteFile(log, b, 0o600); err != nil {
			panic(err)
		}
	}
	switch mode {
	case "old":
		fmt.Fprintln(os.Stderr, "error: unknown option '--safe-mode'")
		os.Exit(1)
	case "hang":
		child := exec.Command("sleep", "300")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			panic(err)
		}
		if err := os.WriteFile(os.Getenv("MEM_FAKE_LOG"), []byte(strconv.Itoa(child.Process.Pid)), 0o600); err != nil {
			panic(err)
		}
		time.Sleep(time.Hour)
	case "login":
		fmt.Print(`{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key · Please run /login","total_cost_usd":0,"usage":{}}`)
		os.Exit(1)
	case "budget":
		fmt.Print(`{"type":"result","subtype":"error_max_budget_usd","is_error":true,"total_cost_usd":0.5,"usage":{"input_tokens":10,"output_tokens":5}}`)
		os.Exit(1)
	case "error":
		fmt.Print(`{"type":"result","subtype":"error_during_execution","is_error":true,` +
			`"errors":["no such model"],"usage":{}}`)
		os.Exit(1)
	case "crash":
		fmt.Fprintln(os.Stderr, "first\nSegmentation fault")
		os.Exit(139)
	case "noise":
		fmt.Print("Update available!")
	case "text":
		fmt.Printf(`{"type":"result","subtype":"success","is_error":false,"result":%q,"usage":{"input_tokens":10,"output_tokens":5}}`, good)
	default:
		fmt.Printf(`{"type":"result","subtype":"success","is_error":false,"result":"done","structured_output":%s,"stop_reason":"end_turn","total_cost_usd":0.012345,`+
			`"usage":{"input_tokens":10,"cache_creation_input_tokens":500,"cache_read_input_tokens":90,"output_tokens":70},"modelUsage":{"claude-opus-5-5":{"outputTokens":70}}}`, good)
	}
}

func fakeCommand() {
	var q Question
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil || q.Format != questionFormat || q.Prompt == "" {
		fmt.Fprintln(os.Stderr, "no question")
		os.Exit(1)
	}
	switch os.Getenv("MEM_FAKE_MODE") {
	case "wrapped":
		b, err := json.Marshal(map[string]any{"text": good, "model": "mine", "usage": map[string]int{"input_tokens": 5, "output_tokens": 6, "usd_micros": 7}})
		if err != nil {
			panic(err)
		}
		os.Stdout.Write(b)
	case "flood":
		for range 1 << 12 {
			os.Stdout.Write(make([]byte, 16<<10))
		}
	default:
		fmt.Print(good)
	}
}

// run runs a program with the settings as its environment.
func run(ctx context.Context, settings []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append([]string{}, settings...)
	return cmd
}

func self(t *testing.T, kind, mode, log string) Program {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Program{Command: run, Path: exe, Dir: t.TempDir(), Settings: []string{
		"MEM_FAKE=" + kind, "GOCOVERDIR=" + t.TempDir(), "MEM_FAKE_MODE=" + mode, "MEM_FAKE_LOG=" + log, "PATH=/usr/bin:/bin",
	}}
}

func TestClaude(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	c := &Claude{Program: self(t, "claude", "", log), Model: "opus", Temp: t.TempDir()}
	s := New(c, Options{Meter: &purse{cap: 1 << 40, left: 2_500_000}})
	if segs := summarize(t, s, request(400)); len(segs) != 3 {
		t.Errorf("%d segments", len(segs))
	}
	if u := s.Receipt().Usage; u != (Usage{2 * 600, 2 * 70, 2 * 12345}) {
		t.Errorf("usage %+v", u)
	}
	if a := s.Exchanges()[0].Answer; a.Model != "claude-opus-5-5" {
		t.Errorf("model %q", a.Model)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Args, Env   []string
		Files       int
		Dir, Prompt string
		Pgid, Pid   int
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	want := "-p --safe-mode --tools  --no-session-persistence --output-format json --model opus --json-schema " + string(answers.AnswerSchema[verdicts]()) + " --system-prompt " + verifySystem + " --max-budget-usd 2.5"
	if line := strings.Join(got.Args, " "); line != want {
		t.Errorf("arguments %s\nwant %s", line, want)
	}
	env := strings.Join(got.Env, " ")
	if !strings.Contains(env, "MEM_HOOK=off") {
		t.Errorf("environment %s", env)
	}
	if got.Files != 0 || got.Pgid != got.Pid || !strings.Contains(got.Prompt, "=== record ") {
		t.Errorf("%d files in %s, group %d of %d, prompt %q", got.Files, got.Dir, got.Pgid, got.Pid, got.Prompt)
	}
	if _, err := os.Stat(got.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", got.Dir, err)
	}
}

func TestClaudeFailures(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct {
		is   error
		says string
	}{
		"old":    {ErrSetup, "too old: run "},
		"login":  {ErrAuth, "Please run /login"},
		"budget": {ErrCap, "error_max_budget_usd"},
		"error":  {nil, "claude failed with error_during_execution: no such model"},
		"crash":  {nil, "exit status 139: Segmentation fault"},
		"noise":  {nil, "the output of claude is not a result: `Update available!`"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			c := &Claude{Program: self(t, "claude", mode, ""), Model: "opus", Temp: t.TempDir()}
			a, err := c.Ask(context.Background(), ask())
			if err == nil || !strings.Contains(err.Error(), want.says) || want.is != nil && !errors.Is(err, want.is) {
				t.Errorf("got %v, want %s", err, want.says)
			}
			if mode == "budget" && a.Usage.Micros != 500_000 {
				t.Errorf("usage %+v", a.Usage)
			}
		})
	}
	c := &Claude{Program: self(t, "claude", "text", ""), Model: "opus", Temp: t.TempDir()}
	if a, err := c.Ask(context.Background(), ask()); err != nil || a.Text != good {
		t.Errorf("without a schema: %+v, %v", a, err)
	}
	none := &Claude{Program: Program{Command: run, Path: "/no/such/claude"}, Temp: t.TempDir()}
	if _, err := none.Ask(context.Background(), ask()); !errors.Is(err, ErrSetup) {
		t.Errorf("no client: %v", err)
	}
}

// A client that hangs ends with all that it started.
func TestClaudeHangs(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	c := &Claude{Program: self(t, "claude", "hang", log), Model: "opus", Temp: t.TempDir()}
	ctx, cancel := context.WithCancel(context.Background())
	started := make(chan int, 1)
	go func() {
		defer cancel()
		for range 6000 {
			if b, err := os.ReadFile(log); err == nil && json.Valid(b) && b[0] != '{' {
				pid, _ := strconv.Atoi(string(b)) // 0 fails below
				started <- pid
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		started <- 0
	}()
	if _, err := c.Ask(ctx, ask()); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want Canceled", err)
	}
	pid := <-started
	if pid == 0 {
		t.Fatal("it never started")
	}
	for range 3000 {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

func TestCommand(t *testing.T) {
	t.Parallel()
	late := &Command{Program: Program{Command: run, Path: "/bin/sh", Args: []string{"-c", "sleep 300"}}, Timeout: 50 * time.Millisecond}
	if _, err := late.Ask(context.Background(), ask()); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v, want ErrTimeout", err)
	}
	c := &Command{Program: self(t, "command", "", ""), Model: "mine"}
	s := New(c, Options{})
	if segs := summarize(t, s, request(400)); len(segs) != 3 || s.Receipt().Usage.Input == 0 {
		t.Errorf("%d segments, %+v", len(segs), s.Receipt())
	}
	c = &Command{Program: self(t, "command", "wrapped", "")}
	a, err := c.Ask(context.Background(), ask())
	if err != nil || a.Text != good || a.Model != "mine" || a.Usage != (Usage{5, 6, 7}) {
		t.Errorf("%+v, %v", a, err)
	}
	c = &Command{Program: self(t, "command", "flood", "")}
	if _, err := c.Ask(context.Background(), ask()); err == nil || !strings.Contains(err.Error(), "output of more than") {
		t.Errorf("flood: %v", err)
	}
	if got := (&Command{}).ID() + (&Command{Model: "x"}).ID(); got != "commandcommand x" {
		t.Errorf("IDs %s", got)
	}
}

func TestKeyFrom(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{"echo ' k1 '; echo x": "k1", "true": "", "echo k; exit 3": ""} {
		key, err := KeyFrom(Program{Command: run, Path: "/bin/sh", Args: []string{"-c", script}})(context.Background())
		if key != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, ErrAuth) {
			t.Errorf("%s: %q, %v", script, key, err)
		}
	}
}
