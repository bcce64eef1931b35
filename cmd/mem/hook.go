package main

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/redact/scanner"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/config"
)

// hook is the command that Claude Code runs. It is here for help and completion: [hookArgs] finds it before the
// command line is looked at.
func (e *Env) hook() *cli.Command {
	return &cli.Command{
		Name:      "hook",
		Usage:     "answer an event of Claude Code, JSON in and JSON out",
		ArgsUsage: "<event>",
		Description: "Events are SessionStart, UserPromptSubmit, PostToolUse, PostToolUseFailure, SubagentStop, PreCompact, Stop and\n" +
			"SessionEnd; session-start is the same. It never fails: what goes wrong is in cache/hooks.log of the memory. MEM_HOOK=off\n" +
			"makes every hook return at once, MEM_CAPTURE=off keeps a session from being captured. See \"mem help capturing\".",
		Action: func(_ context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 1, 1); err != nil {
				return err
			}
			e.runHook(e.operand(0))
			return nil
		},
	}
}

// hookArgs returns the event, and the memory that is named, if args are those that settings hold, so that a hook need not pay for options.
func hookArgs(args []string) (event, store string, ok bool) {
	if len(args) == 4 && args[2] == "--mem-dir" {
		store, args = args[3], args[:2]
	}
	if len(args) != 2 || args[0] != "hook" || len(args[1]) == 0 || args[1][0] == '-' {
		return "", "", false
	}
	return args[1], store, true
}

// hookMemory is what a hook may use. Most of a capture is buffers, and it is over before collecting them pays.
const hookMemory = 52 << 20

// hookLock is how long a hook waits for another writer. What it leaves is folded in by the next one.
const hookLock = 150 * time.Millisecond

// runHook runs the hook of an event. It has nobody to report to.
func (e *Env) runHook(event string) {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(hookMemory)
	if fixed, err := time.Parse(time.RFC3339, e.Getenv("MEM_NOW")); err == nil {
		e.Now = func() time.Time { return fixed }
	}
	store, err := e.memoryDir()
	if err != nil {
		return // no home, so no place for a log either
	}
	claude, err := e.claudeDir()
	if err != nil {
		return
	}
	e.opt.lockTimeout = -1
	if event != hooks.Work && !e.Unhurried {
		e.opt.lockTimeout = hookLock
	}
	e.growing = sync.OnceFunc(func() {
		debug.SetGCPercent(-1) // from here on the limit alone decides: a collection in the middle would keep one of two processors
		reserveHeap(hookMemory * 2 / 3)
	})
	w := &hooks.World{
		Stdin: e.Stdin, Stdout: e.Stdout, Getenv: e.Getenv, Now: e.Now, Uptime: e.Uptime, Pid: os.Getpid(), Store: store, Temp: os.TempDir(), Claude: claude,
		Open:     func() (*layers.Memory, error) { return e.openForHook() },
		Prepare:  func() { e.prepareCapture() },
		Settings: func() (hooks.Settings, error) { return e.hookSettings() },
		Detach:   func(args ...string) error { return e.detach(args...) },
		Exit:     func() { e.Exit(exitDone) },
		Program:  func() string { return e.calledAs() },
		After:    func(d time.Duration, f func()) { time.AfterFunc(d, f) },
		Within:   context.WithTimeout, Unhurried: e.Unhurried,
	}
	hooks.Run(w, event)
	if event == hooks.Work { // nobody waits for it
		debug.SetMemoryLimit(math.MaxInt64)
		e.autoTierEverywhere(context.Background())
		e.distillAsked(context.Background(), w)
	}
}

// prepareCapture does, beside the start of a capture, what each capture has to do.
func (e *Env) prepareCapture() {
	e.growing()
	scanner.Warm()
}

// distillAsked lets the model that distill.engine names distil the sessions that have ended. It has nobody to report to but the log.
func (e *Env) distillAsked(ctx context.Context, w *hooks.World) {
	s, err := e.hookSettings()
	if err != nil || !s.Distill {
		return
	}
	e.out, e.Stderr = newOutput(io.Discard, false), io.Discard
	w.EachAsked(ctx, func(a hooks.Asked) (done bool, err error) {
		e.Dir = a.Cwd
		return distilledFor(e.runDistill(ctx, distillOptions{}, a.Session))
	})
}

// distilledFor says whether a session is done with after a model was to distil it, and what the log may know: never what a
// session holds, or what a model answered.
func distilledFor(err error) (done bool, logged error) {
	var none *state.NotFoundError
	var capped *state.CapError
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &none):
		return true, errors.New("there is no such session")
	case errors.As(err, &capped):
		return false, capped // numbers alone
	}
	for _, known := range []error{knowledge.ErrAnswer, engines.ErrRecorded, derive.ErrNoWitnesses} {
		if errors.Is(err, known) {
			return true, known // to ask again would cost the same again
		}
	}
	for _, known := range []error{engines.ErrAuth, engines.ErrSetup, engines.ErrTimeout, engines.ErrCap} {
		if errors.Is(err, known) {
			return false, known
		}
	}
	return false, errors.New("no model could be asked; mem distill --backlog says why")
}

// openForHook opens the memory. Whoever installed the hooks wants one, so it is made where there is none.
func (e *Env) openForHook() (*layers.Memory, error) {
	m, err := e.memory()
	if !errors.Is(err, refs.ErrNotRepo) {
		return m, err
	}
	dir, err := e.memoryDir()
	if err != nil {
		return nil, err
	}
	o, err := e.memoryOptions()
	if err != nil {
		return nil, err
	}
	name, err := e.Hostname()
	if err != nil || name == "" {
		name = "device" // a machine need not have a name
	}
	return layers.Init(context.Background(), dir, name, o)
}

// hookSettings reads the settings of hooks. What does not fit its key has its default: a session must go on.
func (e *Env) hookSettings() (hooks.Settings, error) {
	c, err := e.settings()
	if err != nil {
		return hooks.Settings{}, err
	}
	s := hooks.Settings{
		Capture: hookValue(c.Bool, "hooks.capture", true), Every: hookValue(c.Int, "hooks.every", 5),
		Ask: hookValue(c.Bool, "hooks.ask", false), AskAfterTokens: hookValue(c.Int, "hooks.askAfterTokens", 2000),
		Blocking: hookValue(c.String, "hooks.blocking", "off"),
	}
	_, from, err := c.Get("defaults.autoRegisterSessions")
	s.Register = err == nil && (from == config.Default || hookValue(c.Bool, "defaults.autoRegisterSessions", false))
	s.Distill = hookValue(c.String, "distill.engine", "") != ""
	s.ContextSize, s.PromptSize = hookValue(c.Int, "hooks.contextSize", 4000), hookValue(c.Int, "hooks.promptSize", 1500)
	s.Recall = hookValue(c.Bool, "recall.enabled", true)
	if s.Decay, err = decayOf(c); err != nil {
		s.Decay = keepit.DefaultDecay
	}
	s.CaptureProject = func(p state.Project) bool {
		return hookValue(c.Bool, "hooks.captureProject."+string(p.ID), true)
	}
	return s, nil
}

func hookValue[T any](get func(string) (T, error), key string, otherwise T) T {
	v, err := get(key)
	if err != nil {
		return otherwise
	}
	return v
}

// calledAs returns what to type to run this program on this memory: its name if that finds it, else its path.
func (e *Env) calledAs() string {
	if e.opt.memDir != "" {
		return e.programName() + " --mem-dir " + quoteWord(e.opt.memDir)
	}
	return e.programName()
}

func (e *Env) programName() string {
	self, err := e.Executable()
	if err != nil {
		return "mem"
	}
	found, err := exec.LookPath("mem")
	if err == nil {
		found, err = filepath.EvalSymlinks(found)
	}
	if err == nil && found == self {
		return "mem"
	}
	return quoteWord(self)
}

// quoteWord writes a word so that a shell reads it as it is.
func quoteWord(s string) string {
	if strings.ContainsAny(s, " '\"`$\\") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// detach starts this program in the background, with nothing of the terminal and of the pipes of this one.
func (e *Env) detach(args ...string) error {
	self, err := e.Executable()
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	if e.opt.memDir != "" {
		args = append(args, "--mem-dir", e.opt.memDir)
	}
	cmd := e.command(context.Background(), nil, self, args...)
	cmd.Dir = filepath.VolumeName(self) + string(filepath.Separator)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = null, null, null
	cmd.SysProcAttr = ownSession()
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
