package hookcmd

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/knowledgecmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// Hook returns mem hook, which Claude Code runs. It serves help and completion: [HookArgs] recognises a hook before the
// command line is parsed.
func Hook(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:      "hook",
		Usage:     "answer an event of Claude Code, JSON in and JSON out",
		ArgsUsage: "<event>",
		Description: "Events are SessionStart, UserPromptSubmit, PreToolUse, PostToolUse,\n" +
			"PostToolUseFailure, SubagentStart, SubagentStop, PreCompact, Stop, StopFailure and\n" +
			"SessionEnd; session-start is accepted too. A hook\n" +
			"never fails a session: errors are logged in cache/hooks.log of the memory. MEM_HOOK=off\n" +
			"makes every hook return at once, MEM_CAPTURE=off excludes a session from capture. See\n" +
			"\"mem help capturing\".",
		Action: e.Action(1, 1, func(c *cli.Context) error {
			if event := e.Operand(0); !isEvent(event) {
				return unknownEvent(event)
			}
			RunHook(e, e.Operand(0))
			return nil
		}),
	}
}

// isEvent reports whether mem answers the event.
func isEvent(name string) bool {
	_, ok := settings.ParseEvent(name)
	return ok || name == hooks.Work
}

// unknownEvent returns the usage error of a user who typed mem hook in place of mem hooks, or no event.
func unknownEvent(name string) error {
	err := app.Usagef("mem hook: %q is no event of Claude Code", name)
	if slices.Contains(hooksVerbs(), name) {
		return app.WithHint(err, term.Shell("mem", "hooks", name))
	}
	return app.WithHint(err, "mem hook -h")
}

// HookArgs returns the event and the memory directory if args have the exact form that the settings contain. A hook
// then skips the parsing of options. An event that mem does not know is a hook too, of a newer version, unless a user
// types it.
func HookArgs(args []string, typed bool) (event, store string, ok bool) {
	if len(args) == 4 && args[2] == "--mem-dir" {
		store, args = args[3], args[:2]
	}
	if len(args) != 2 || args[0] != "hook" || len(args[1]) == 0 || args[1][0] == '-' {
		return "", "", false
	}
	if !isEvent(args[1]) && (typed || slices.Contains(hooksVerbs(), args[1])) {
		return "", "", false
	}
	return args[1], store, true
}

// hookMemory is the memory limit of a hook. Most of the heap is buffers, and a capture ends before collections pay off.
const hookMemory = 52 << 20

// hookLock is the maximum wait of a hook for another writer. The next hook captures its note.
const hookLock = 150 * time.Millisecond

// RunHook runs the hook of an event. Errors go to the log.
func RunHook(e *app.Env, event string) {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(hookMemory)
	e.Lenient = true // no session is disturbed by an invalid setting
	if fixed, err := time.Parse(time.RFC3339, e.Getenv("MEM_NOW")); err == nil {
		e.Now = func() time.Time { return fixed }
	}
	store, err := e.MemoryDir()
	if err != nil {
		return // no home, so no place for a log either
	}
	claude, err := e.ClaudeDir()
	if err != nil {
		return
	}
	e.Opt.LockTimeout = -1
	if event != hooks.Work && !e.NoTimeLimit {
		e.Opt.LockTimeout = hookLock
	}
	e.Growing = sync.OnceFunc(func() {
		// only the limit triggers collections from here on: one in the middle would occupy one of two processors
		debug.SetGCPercent(-1)
	})
	w := &hooks.World{
		Stdin: e.Stdin, Stdout: e.Stdout, Getenv: e.Getenv, Now: e.Now, Uptime: e.Uptime, Pid: os.Getpid(), Store: store,
		Temp: os.TempDir(), Claude: claude,
		Open:     func() (*layers.Memory, error) { return openForHook(e) },
		Prepare:  func() { prepareCapture(e) },
		Settings: func() (hooks.Settings, error) { return app.HookSettings(e) },
		Detach:   func(args ...string) error { return detach(e, args...) },
		Exit:     func() { e.Exit(app.ExitDone) },
		Program:  func() string { return app.CalledAs(e) },
		After:    func(d time.Duration, f func()) { time.AfterFunc(d, f) },
		Within:   context.WithTimeout, Unhurried: e.NoTimeLimit,
	}
	hooks.Run(w, event)
	if event == hooks.Work { // a background process
		e.Growing() // now, so that no later call turns collections off
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
		app.BoundMemory(e)
		versioncmd.AutoEverywhere(context.Background(), e)
		distillEnded(context.Background(), e, w)
	}
}

// prepareCapture runs the initialisation of a capture concurrently with its start.
func prepareCapture(e *app.Env) {
	e.Growing()
	redact.Warm()
}

// distillEnded distils ended sessions with the model of distill.engine. Errors go to the log.
func distillEnded(ctx context.Context, e *app.Env, w *hooks.World) {
	s, err := app.HookSettings(e)
	if err != nil || s.Distill == "" {
		return
	}
	e.Out, e.Stderr = app.NewOutput(io.Discard, false), io.Discard
	w.EachDistillRequest(ctx, func(a hooks.DistillRequest) (done bool, err error) {
		e.Dir = a.Cwd
		return distillOutcome(knowledgecmd.RunDistill(ctx, e, knowledgecmd.DistillOptions{}, a.Session))
	})
}

// distillOutcome reports whether a session needs no further attempt after distillation, and returns the error to log,
// which contains no text of the session or the model.
func distillOutcome(err error) (done bool, logged error) {
	var none *state.NotFoundError
	var capped *state.CapError
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &none):
		return true, errors.New("no such session")
	case errors.As(err, &capped):
		return false, capped // numbers alone
	}
	for _, known := range []error{engines.ErrAnswer, engines.ErrRecorded, derive.ErrNoWitnesses} {
		if errors.Is(err, known) {
			return true, known // a retry would cost the same again
		}
	}
	for _, known := range []error{engines.ErrAuth, engines.ErrSetup, engines.ErrTimeout, engines.ErrCap} {
		if errors.Is(err, known) {
			return false, known
		}
	}
	return false, errors.New("no model is available; mem distill --backlog prints the reason")
}

// openForHook opens the memory, and creates it if there is none.
func openForHook(e *app.Env) (*layers.Memory, error) {
	m, err := app.OpenMemory(e)
	if !errors.Is(err, refs.ErrNotRepo) {
		return m, err
	}
	dir, err := e.MemoryDir()
	if err != nil {
		return nil, err
	}
	o, err := app.MemoryOptions(e)
	if err != nil {
		return nil, err
	}
	name, err := e.Hostname()
	if err != nil || name == "" {
		name = "device" // a machine need not have a name
	}
	return layers.Init(context.Background(), dir, name, o)
}

// detach starts this program in the background, without the terminal and pipes of this process.
func detach(e *app.Env, args ...string) error {
	self, err := e.Executable()
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	if e.Opt.MemDir != "" {
		args = append(args, "--mem-dir", e.Path(e.Opt.MemDir))
	}
	var env []string
	for _, name := range []string{"MEM_DIR", "CLAUDE_CONFIG_DIR"} {
		if dir := e.Getenv(name); dir != "" {
			env = append(env, name+"="+e.Path(dir)) // it runs in another directory
		}
	}
	cmd := e.Command(context.Background(), env, self, args...)
	cmd.Dir = filepath.VolumeName(self) + string(filepath.Separator)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = null, null, null
	cmd.SysProcAttr = term.OwnSession()
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
