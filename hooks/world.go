package hooks

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
)

// Work is the name of the worker on the command line, next to the names of events.
const Work = "work"

// A World is the environment of a hook.
type World struct {
	Stdin    io.Reader
	Stdout   io.Writer
	Getenv   func(string) string
	Now      func() time.Time     // the time that is recorded
	Uptime   func() time.Duration // a monotonic clock
	Pid      int
	Store    string                          // the directory of the memory
	Temp     string                          // for notes that cannot be written to the spool; "" for none
	Claude   string                          // the directory of Claude Code's own files
	Open     func() (*layers.Memory, error)  // opens or creates the memory
	Prepare  func()                          // warms up for a capture while notes are read; may be nil
	Settings func() (Settings, error)        // reads the settings
	Detach   func(args ...string) error      // starts this program in the background
	Program  func() string                   // this program in a command line
	After    func(d time.Duration, f func()) // calls f after a time
	Within   func(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
	Exit     func() // ends the process with status 0

	// Unhurried disables the time limits, for tests: a busy machine can exceed any limit.
	Unhurried bool

	memory   *layers.Memory
	busy     bool            // another process has the lock of the spool: this one only writes its note
	worker   bool            // this is a background process
	captured []state.Project // that the worker captured something of
}

// Settings are the settings under "hooks.".
type Settings struct {
	Capture        bool
	CaptureProject func(state.Project) bool // whether capture is on for this project
	Register       bool                     // capture sessions that are not in memory yet
	Every          int                      // tool uses between two captures
	Ask            bool                     // tell the model which messages have no facts
	AskAfterTokens int
	Blocking       string // off, once, strict
	Distill        string // the engine that distils sessions that have ended, "" for none
	ContextSize    int    // most characters that SessionStart hands over
	PromptSize     int    // most characters that UserPromptSubmit hands over
	Recall         bool   // UserPromptSubmit hands over what fits the prompt
	Action         bool   // PreToolUse hands over what fits the call
	Decay          keepit.Decay
}

// withFixedClock returns a copy of w with a fixed clock.
func (w *World) withFixedClock(at time.Duration) *World {
	still := *w
	still.Uptime = func() time.Duration { return at }
	still.Within = func(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
		return context.WithCancel(ctx)
	}
	return &still
}

func (w *World) projects() string { return projectsOf(w.Claude) }

// projectsOf returns where a client with the directory claude writes its session files.
func projectsOf(claude string) string { return filepath.Join(claude, "projects") }

// sessionFile returns a file of the cache in which hooks of one session keep what they need again.
func (w *World) sessionFile(session, ext string) string {
	return filepath.Join(w.Store, "cache", "hooks", session+ext)
}

// open opens the memory, once.
func (w *World) open() (*layers.Memory, error) {
	if w.memory != nil {
		return w.memory, nil
	}
	if w.removed() {
		return nil, errors.New("the memory was removed")
	}
	m, err := w.Open()
	w.memory = m
	return m, err
}

// locate opens the memory and finds the project of a working directory. Known reports whether the memory has the
// project.
func (w *World) locate(ctx context.Context, cwd string) (m *layers.Memory, p state.Project, known bool, err error) {
	if m, err = w.open(); err == nil {
		p, known, err = projects.Locate(ctx, m.DB, cwd)
	}
	return m, p, known, err
}

// removed reports whether the memory was removed since the worker was started: then the worker must not create it.
func (w *World) removed() bool {
	if !w.worker {
		return false
	}
	_, err := os.Stat(w.Store)
	return errors.Is(err, fs.ErrNotExist)
}

// close closes the memory if it is open.
func (w *World) close() error {
	if w.memory == nil {
		return nil
	}
	m := w.memory
	w.memory = nil
	return m.Close()
}
