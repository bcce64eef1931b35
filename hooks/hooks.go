package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/state"
)

// A World is what a hook is given of the world outside.
type World struct {
	Stdin    io.Reader
	Stdout   io.Writer
	Getenv   func(string) string
	Now      func() time.Time     // the time that is recorded
	Uptime   func() time.Duration // time that always passes
	Pid      int
	Store    string                          // the directory of the memory
	Temp     string                          // for notes that the memory does not take, "" for none
	Claude   string                          // the directory of Claude Code's own files
	Open     func() (*layers.Memory, error)  // opens the memory, or makes it
	Prepare  func()                          // gets ready for a capture while its notes are read; may be nil
	Settings func() (Settings, error)        // reads the settings
	Detach   func(args ...string) error      // starts this program in the background
	Program  func() string                   // how this program is called in commands
	After    func(d time.Duration, f func()) // calls f after a time
	Within   func(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
	Exit     func() // ends the process with status 0

	// Unhurried takes the limits of time away, for tests of what hooks do: a busy machine lets any limit be reached.
	Unhurried bool

	memory *layers.Memory
	busy   bool            // another hook folds: this one only leaves its note
	worker bool            // nobody waits for this one
	grown  []state.Project // that the worker captured something of
}

// Settings are the settings under "hooks.".
type Settings struct {
	Capture        bool
	CaptureProject func(state.Project) bool // of this project
	Register       bool                     // sessions that are not in memory yet
	Every          int
	Ask            bool // tell the model what has no facts yet
	AskAfterTokens int
	Blocking       string // off, once, strict
	Distill        bool   // a model distils sessions that have ended
	ContextSize    int    // characters that SessionStart hands over at most
	PromptSize     int    // characters that UserPromptSubmit hands over at most
	Recall         bool   // UserPromptSubmit hands over what fits the prompt
	Decay          keepit.Decay
}

// speakFrom returns from how many tokens without facts the context of a start mentions a session: 0 for never,
// unless asking is on.
func (s Settings) speakFrom() int {
	if !s.Ask {
		return 0
	}
	return s.AskAfterTokens
}

// How long a hook may take, and what is left of it for an orderly end.
const (
	limit        = 500 * time.Millisecond
	limitAtStart = 3 * time.Second
	limitOfWork  = 5 * time.Minute
	orderly      = 60 * time.Millisecond

	foldTime        = 200 * time.Millisecond  // of a hook for the notes of all
	foldTimeAtStart = 1200 * time.Millisecond // of SessionStart
)

// Run runs the hook of the event that name stands for. An event that mem takes no part in is no error.
func Run(w *World, name string) {
	if w.Getenv("MEM_HOOK") == "off" {
		return // mem started the Claude Code that runs this hook
	}
	event, ok := settings.ParseEvent(name)
	if !ok && name != Work {
		_, _ = io.Copy(io.Discard, w.Stdin) // so that nobody writes into a closed pipe
		return
	}
	r := &run{World: w, event: event}
	d := limit
	switch {
	case event == settings.SessionStart:
		d = limitAtStart
	case !ok:
		d, r.event, w.worker = limitOfWork, Work, true
	}
	if w.removed() {
		return
	}
	begin := w.Uptime()
	if w.Unhurried {
		r.World = w.unhurried(begin)
	} else {
		r.watch(d/limitTicks, limitTicks)
	}
	ctx, cancel := r.Within(context.Background(), d-orderly)
	defer cancel()
	r.guarded(ctx)
	r.phase.Store(over)
	w.clock(r.event, w.Uptime()-begin, r.failed)
}

// unhurried returns w with a clock that stands at a time.
func (w *World) unhurried(at time.Duration) *World {
	still := *w
	still.Uptime = func() time.Duration { return at }
	still.Within = func(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
		return context.WithCancel(ctx)
	}
	return &still
}

// A run is one hook on its way.
type run struct {
	*World
	event settings.Event
	p     Payload
	there bool // the transcript exists
	phase atomic.Int32
	reads atomic.Int64 // of the payload that have begun or ended: odd while the hook waits for its input

	failed bool // something went wrong, which the log tells
}

// The phases of a run that the time limit respects.
const (
	noting int32 = iota // it is about to be durable that there is something to capture
	free                // everything else may be cut short
	over                // there is nothing left to end
)

// The limit is counted in ticks. On a machine with a thousand processes and two processors a hook is not there
// for seconds; a tick that comes late for that is one tick all the same.
const limitTicks = 10

// watch lets the run end after so many ticks.
func (r *run) watch(each time.Duration, ticks int) {
	r.After(each, func() {
		if ticks > 1 {
			r.watch(each, ticks-1)
			return
		}
		r.endAt(r.Uptime()+patience, 0, 0)
	})
}

// patience is how much longer a hook may take to make its note durable: what a hook acknowledges by its status
// must not be lost. Claude Code has a limit of its own, and knows of a hook that it ended that it did not do
// its work.
const patience = 5 * time.Minute

// silence is how often the limit looks again at a hook that waits for its input, which may be there and only
// the processor not.
const silence = 10

// endAt ends the process: at once if it is free, else when it is, when no input came for some looks, or at the
// latest at a time.
func (r *run) endAt(last time.Duration, reads int64, looks int) {
	phase, now := r.phase.Load(), r.reads.Load()
	if phase == over {
		return
	}
	if now != reads {
		looks = 0
	}
	if silent := now%2 == 1 && looks == silence; phase == noting && !silent && r.Uptime() < last {
		r.After(50*time.Millisecond, func() { r.endAt(last, now, looks+1) })
		return
	}
	r.note(string(r.event), "", errors.New("ended at the time limit"))
	r.clock(r.event, r.Uptime(), true)
	r.Exit()
}

// watched counts where reads begin and end.
type watched struct {
	in    io.Reader
	reads *atomic.Int64
}

func (w *watched) Read(p []byte) (int, error) {
	w.reads.Add(1)
	defer w.reads.Add(1)
	return w.in.Read(p)
}

// guarded runs the hook and turns everything that goes wrong into a line of the log.
func (r *run) guarded(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			r.failed = true
			r.note(string(r.event), r.p.Session, fmt.Errorf("internal: %T at %s", p, panicPlace(debug.Stack())))
		}
	}()
	err := errors.Join(r.hook(ctx), r.close())
	if err != nil {
		r.failed = true
		r.note(string(r.event), r.p.Session, err)
	}
}

// hook reads the payload and does what the event asks for.
func (r *run) hook(ctx context.Context) (err error) {
	if r.event == Work {
		r.phase.Store(free)
		return r.work(ctx)
	}
	stdin := &watched{r.Stdin, &r.reads}
	if r.p, err = ReadPayload(stdin, r.event.Brief()); err != nil {
		return err
	}
	if r.event.Brief() {
		_, _ = io.Copy(io.Discard, stdin) // as in Run
	}
	if err := checkSession(r.p.Session); err != nil {
		r.p.Session = ""
		return err
	}
	if strings.ContainsRune(r.p.Cwd, 0) {
		r.p.Cwd = "" // nothing can be called so; the session's file says where it works
	}
	switch r.event {
	case settings.PostToolUse, settings.PostToolUseFailure:
		return r.tool(ctx)
	case settings.UserPromptSubmit:
		return r.prompt(ctx)
	}
	if r.there, err = checkTranscript(r.projects(), r.p.Transcript); err != nil {
		return err
	}
	switch r.event {
	case settings.SessionStart:
		r.phase.Store(free)
		return r.start(ctx)
	case settings.SubagentStop:
		return r.subagent(ctx)
	case settings.PreCompact:
		return r.compact(ctx)
	case settings.Stop:
		return r.stop(ctx)
	}
	return r.end(ctx)
}

// panicPlace finds in a stack trace where a panic came from: the first line of a file behind the runtime's own.
func panicPlace(stack []byte) string {
	_, rest, _ := bytes.Cut(stack, []byte("panic("))
	for i, line := range bytes.Split(rest, []byte("\n")) {
		if file, _, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" +0x")); ok && i > 1 {
			return filepath.Base(string(file))
		}
	}
	return "an unknown place"
}
