package hookcmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/hooks/settings"
)

// trialSession is the id of the artificial session of "mem hooks test".
const trialSession = "00000000-0000-4000-8000-000000000000"

// trialTranscript is its transcript.
const trialTranscript = `{"type":"user","uuid":"t1","parentUuid":null,"timestamp":"2026-01-01T00:00:00Z",` +
	`"sessionId":"` + trialSession + `","cwd":"/trial",` +
	`"message":{"role":"user","content":"Is the memory there?"}}
{"type":"assistant","uuid":"t2","parentUuid":"t1","timestamp":"2026-01-01T00:00:01Z",` +
	`"sessionId":"` + trialSession + `","cwd":"/trial",` +
	`"message":{"role":"assistant","id":"m1","content":[{"type":"text","text":"Yes."}]}}
`

// A trial is the test of one hook.
type trial struct {
	event settings.Event
	ms    float64
	err   string
}

// runHooksTest runs the hooks like Claude Code: the program in the settings, or else this one.
func runHooksTest(ctx context.Context, e *app.Env, scope string) error {
	program, err := installedProgram(e, scope)
	if err != nil {
		return err
	}
	trials, err := runTrials(ctx, e, program)
	if err != nil {
		return err
	}
	if !e.Opt.JSON {
		e.Printf("%s\n", e.Safe(program.Path))
	}
	failed, objects := false, []app.Object{}
	for _, t := range trials {
		failed = failed || t.err != ""
		objects = append(objects, app.Object{"event", t.event, "ms", t.ms, "ok", t.err == "", "error,omitempty", t.err})
		if !e.Opt.JSON {
			e.Printf("%-20s %6.1f ms  %s\n", t.event, t.ms, e.Safe(cmp.Or(t.err, "ok")))
		}
	}
	if e.Opt.JSON {
		err = e.PrintJSON("hooks.test", nil, "command", program.Path, "trials", objects)
	}
	if err == nil && failed {
		return app.Exit(app.ExitNo)
	}
	return err
}

// runTrials runs the hooks of all events in a memory of their own.
func runTrials(ctx context.Context, e *app.Env, program settings.Program) (out []trial, err error) {
	dir, err := os.MkdirTemp("", "mem-hooks-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // if it stays, it is a temporary directory
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	file := trialFile(dir)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700),
		os.WriteFile(file, []byte(trialTranscript), 0o600)); err != nil {
		return nil, err
	}
	for _, ev := range settings.Events() {
		out = append(out, runTrial(ctx, e, program, dir, ev))
	}
	awaitSpool(ctx, filepath.Join(dir, "store"))
	return out, nil
}

// measure adds to purposes how many milliseconds their hooks took: most of their runs here, or one in an empty memory
// of a hook that never ran.
func measure(ctx context.Context, e *app.Env, purposes []hooks.Purpose) {
	ms := map[settings.Event]float64{}
	if store, err := e.MemoryDir(); err == nil {
		for _, t := range hooks.Timings(store) {
			ms[t.Event] = t.P95
		}
	}
	if slices.ContainsFunc(purposes, func(p hooks.Purpose) bool { return ms[p.Event] == 0 }) {
		program, err := installedProgram(e, "")
		if err != nil {
			return // the hooks are not there yet
		}
		trials, err := runTrials(ctx, e, program)
		if err != nil {
			return // without a temporary directory nothing is measured
		}
		for _, t := range trials {
			if t.err == "" && ms[t.event] == 0 {
				ms[t.event] = t.ms
			}
		}
	}
	for i, p := range purposes {
		purposes[i].MS = math.Round(ms[p.Event])
	}
}

// awaitSpool waits for the background process of SessionEnd.
func awaitSpool(ctx context.Context, store string) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		if hooks.Spooled(store) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// installedProgram returns the program in the first settings with hooks of mem, or else the one that "mem hooks
// install" would write. The settings of a named scope must have hooks.
func installedProgram(e *app.Env, only string) (settings.Program, error) {
	for _, scope := range scopesOf(e, only) {
		f, err := SettingsOf(e, scope)
		if err != nil {
			return settings.Program{}, err
		}
		found, _, err := f.Installed()
		switch {
		case err == nil && len(found) > 0:
			return found[0].Program, nil
		case only != "" && err != nil:
			return settings.Program{}, settingsError(err, f)
		case only != "":
			return settings.Program{}, app.WithHint(fmt.Errorf("there are no hooks of mem in %s", f.Path),
				"mem hooks install --scope "+only)
		}
	}
	self, err := e.Executable()
	return settings.Program{Path: self, Bare: runtime.GOOS == "windows"}, err
}

// trialFile returns the path of the trial's transcript in dir.
func trialFile(dir string) string {
	return filepath.Join(dir, "claude", "projects", "-trial", trialSession+".jsonl")
}

// runTrial runs one hook in dir and checks its effect.
func runTrial(ctx context.Context, e *app.Env, p settings.Program, dir string, ev settings.Event) trial {
	t := trial{event: ev}
	if _, err := exec.LookPath(p.Path); err != nil { // the shell of the hook ignores that
		t.err = err.Error()
		return t
	}
	payload, err := json.Marshal(map[string]any{
		"session_id": trialSession, "transcript_path": trialFile(dir), "cwd": "/trial", "hook_event_name": ev,
		"source":    "startup",
		"tool_name": "Bash", "tool_input": map[string]string{"command": "true"}, "prompt": "?", "trigger": "manual",
		"reason": "other",
	})
	if err != nil {
		t.err = err.Error()
		return t
	}
	store := filepath.Join(dir, "store")
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if p.Store != "" {
		p.Store = store
	}
	command, args := p.Argv(ev)
	cmd := e.Command(ctx, []string{"MEM_DIR=" + store, "CLAUDE_CONFIG_DIR=" + filepath.Join(dir, "claude"), "MEM_HOOK=",
		"MEM_CAPTURE=", "MEM_NOW="}, command, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(payload), &out, &errs
	begin := e.Uptime()
	err = cmd.Run()
	t.ms = float64(e.Uptime()-begin) / float64(time.Millisecond)
	logged := LastLines(hooks.LogFile(store), 1)
	switch {
	case err != nil:
		t.err = err.Error()
	case errs.Len() > 0:
		t.err = app.OneLine(errs.String())
	case len(logged) > 0:
		t.err = logged[0]
		_ = os.Remove(hooks.LogFile(store)) // or later hooks report it again
	case out.Len() > 0 && out.Bytes()[0] == '{' && !json.Valid(out.Bytes()):
		t.err = "the answer is not JSON"
	}
	return t
}
