package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/state"
)

// Work is what the worker that SessionEnd starts is called on the command line, beside the names of events.
const Work = "work"

func (w *World) projects() string { return projectsOf(w.Claude) }

// projectsOf returns where a client whose own directory is claude keeps the files of sessions.
func projectsOf(claude string) string { return filepath.Join(claude, "projects") }

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

// removed reports whether the memory that a worker was to work on was removed since: then nothing of it comes back.
func (w *World) removed() bool {
	if !w.worker {
		return false
	}
	_, err := os.Stat(w.Store)
	return errors.Is(err, fs.ErrNotExist)
}

// close closes the memory if it was opened.
func (w *World) close() error {
	if w.memory == nil {
		return nil
	}
	m := w.memory
	w.memory = nil
	return m.Close()
}

// noteAfter is when a note becomes durable although its capture goes on. A capture that is over before then,
// which is nearly every one, makes more durable than the note would, and the disk has one thing less to wait
// for.
const noteAfter = 150 * time.Millisecond

// capture leaves a note that the session has grown, unless it must not be captured, and folds the spool. When
// it returns without an error the capture is durable, or the note is.
func (r *run) capture(ctx context.Context) error {
	durable, err := r.leaveNote()
	if err != nil || durable == nil {
		r.phase.Store(free)
		return err
	}
	noted := func() error {
		err := durable()
		r.phase.CompareAndSwap(noting, free)
		return err
	}
	if ctx.Err() != nil {
		return noted()
	}
	r.After(noteAfter, func() { _ = noted() }) // the time limit need not wait any longer then
	return errors.Join(r.fold(ctx, foldTime), noted())
}

// leaveNote leaves a note that the session has grown, and returns what waits until it is durable; nil if there
// is nothing to capture.
func (r *run) leaveNote() (durable func() error, err error) {
	agent, err := r.agent()
	if err != nil {
		return nil, err
	}
	if !r.there && agent == "" {
		return nil, nil // nothing is written yet
	}
	if off, err := r.off(); off || err != nil {
		return nil, err
	}
	return r.leave(note{Version: noteVersion, Event: r.event, Session: r.p.Session, Path: r.p.Transcript, Agent: agent,
		Cwd: r.p.Cwd, Time: r.Now().UTC(), Claude: r.Claude})
}

// agent returns the path of the subagent's transcript that the payload names, "" if there is none.
func (r *run) agent() (string, error) {
	if r.p.AgentTranscript == "" {
		return "", nil
	}
	there, err := checkTranscript(r.projects(), r.p.AgentTranscript)
	if err != nil || !there {
		return "", err
	}
	return r.p.AgentTranscript, nil
}

// off reports whether this session must not be captured: by MEM_CAPTURE, a file .memignore or the settings. What is
// switched off for one project is left out when the spool is folded, where the project is known.
func (r *run) off() (bool, error) {
	switch r.Getenv("MEM_CAPTURE") {
	case "off":
		return true, r.switchOff()
	case "on":
		if err := r.switchOn(); err != nil {
			return true, err
		}
	}
	if r.isOff(r.p.Session) || ignored(r.p.Cwd) {
		return true, nil
	}
	s, err := r.Settings()
	return !s.Capture, err
}

// lock takes the lock of the spool and reports whether it could. It does not wait.
func (w *World) lock() (unlock func(), ok bool, err error) {
	file := filepath.Join(w.spool(), "fold.lock")
	unlock, ok, err = lockNow(file)
	// the spool that did not take them is gone
	if _, n := Stranded(w.Store, w.Temp); n > 0 && errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(w.spool(), 0o700); err == nil {
			return lockNow(file)
		}
	}
	return unlock, ok, err
}

// lockNow takes the lock of a file if nobody has it.
func lockNow(file string) (unlock func(), ok bool, err error) {
	if fi, err := os.Lstat(file); err == nil && !fi.Mode().IsRegular() {
		return nil, false, errors.New(filepath.Base(file) + " is not a regular file") // to open a pipe would take for ever
	}
	l := flock.New(file, flock.SetPermissions(0o600))
	ok, err = l.TryLock()
	if err != nil || !ok {
		return nil, false, cause(err)
	}
	return func() { l.Close() }, true, nil
}

// fold captures what the notes in the spool speak of, or leaves that to the one who is at it. A hook that finds
// the lock taken has left its note before; who lets go of the lock looks at the spool after that, so one of the
// two sees the note. After the time for it, what is left waits for the next one.
func (w *World) fold(ctx context.Context, time time.Duration) error {
	end := w.Uptime() + time
	tried := map[string]bool{}
	for {
		unlock, ok, err := w.lock()
		if err != nil || !ok {
			w.busy = true
			return err
		}
		if w.Prepare != nil {
			go w.Prepare()
		}
		err = w.foldAll(ctx, tried, end)
		unlock()
		if err != nil || w.Uptime() > end {
			return err
		}
		rest, err := w.notes(tried, 1)
		if err != nil || len(rest) == 0 {
			return err
		}
	}
}

// Notes are folded in steps, which grow while they are quick: what a step has done stays done, and a hook of a machine
// that is very busy may not get far.
const (
	firstStep = 32
	lastStep  = 256
	quickStep = 60 * time.Millisecond
)

// foldAll folds until there is no note that was not tried. The lock is held.
func (w *World) foldAll(ctx context.Context, tried map[string]bool, end time.Duration) error {
	for step := firstStep; ; {
		begin := w.Uptime()
		notes, err := w.notes(tried, step)
		if err != nil || len(notes) == 0 {
			return err
		}
		for _, n := range notes {
			tried[n.file] = true
		}
		if err := w.foldNotes(ctx, notes); err != nil || w.Uptime() > end {
			return err
		}
		if w.Uptime()-begin < quickStep {
			step = min(2*step, lastStep)
		}
	}
}

// keepNote is how long a note of a file that cannot be read is tried again.
const keepNote = 24 * time.Hour

// foldNotes captures what the notes speak of and removes those that are done.
func (w *World) foldNotes(ctx context.Context, notes []note) error {
	var files []string
	cwds := map[string]string{}
	unseen := map[string]bool{} // nobody could look whether they are there
	for _, n := range notes {
		for _, path := range n.files() {
			if _, known := cwds[path]; path == "" || known {
				continue
			}
			cwds[path] = n.Cwd
			switch there, err := checkTranscript(projectsOf(cmp.Or(n.Claude, w.Claude)), path); {
			case err != nil:
				w.note("fold", n.Session, err)
				unseen[path] = !errors.Is(err, errRefused)
			case there:
				files = append(files, path)
			}
		}
	}
	failed, err := w.captureFiles(ctx, files, cwds)
	if err != nil {
		return err
	}
	for _, n := range notes {
		again := slices.ContainsFunc(n.files(), func(f string) bool { return failed[f] || unseen[f] })
		if again && w.Now().Sub(n.Time) < keepNote {
			continue
		}
		if err := os.Remove(n.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove note: %w", cause(err))
		}
	}
	return nil
}

// files returns the files that the note speaks of: the session's and those of its subagents, which may still have been
// written to when they stopped.
func (n note) files() []string {
	out := []string{n.Path, n.Agent}
	agents, err := capture.Subagents(n.Path)
	if err != nil {
		return out // the next SessionStart looks again, and says what is wrong
	}
	for _, src := range agents {
		out = append(out, src.Path)
	}
	return out
}

// captureFiles captures session files that are as they should be. It returns those that could not be read. cwds says
// where the sessions work whose files do not say so yet.
func (w *World) captureFiles(ctx context.Context, files []string, cwds map[string]string) (failed map[string]bool,
	err error) {
	files = slices.DeleteFunc(files, func(f string) bool { return w.unchanged(f) || w.isOff(sessionOf(f)) })
	if len(files) == 0 {
		return nil, nil
	}
	m, err := w.open()
	if err != nil {
		return nil, err
	}
	s, err := w.Settings()
	if err != nil {
		return nil, err
	}
	stamps := map[string]stamp{}
	var sources []capture.Source
	for _, f := range files {
		if at, ok := stampOf(f); ok {
			stamps[f] = at
			src := capture.SourceOf(f)
			src.Cwd = cwds[f]
			sources = append(sources, src)
		}
	}
	added, err := m.Capture().Add(ctx, sources, capture.AddOptions{Op: "capture", Unasked: true, Known: !s.Register,
		Only: s.CaptureProject, Within: func(dir string) bool { return !ignored(dir) }})
	for _, a := range added {
		w.remember(a.Path, stamps[a.Path], string(a.Project.ID))
		if w.worker && !slices.ContainsFunc(w.grown, func(p state.Project) bool { return p.ID == a.Project.ID }) {
			w.grown = append(w.grown, a.Project)
		}
	}
	return w.failures(err, stamps)
}

// failures tells the files that could not be captured from what ended the work.
func (w *World) failures(err error, stamps map[string]stamp) (failed map[string]bool, fatal error) {
	failed = map[string]bool{}
	for _, one := range split(err) {
		var src *capture.SourceError
		switch {
		case !errors.As(one, &src):
			fatal = errors.Join(fatal, one)
		case errors.Is(one, state.ErrNotTranscript):
			w.remember(src.Source.Path, stamps[src.Source.Path], noProject)
		case !errors.Is(one, fs.ErrNotExist):
			w.note("capture", src.Source.SessionID(), cause(src.Err))
			failed[src.Source.Path] = true
		}
	}
	return failed, fatal
}

// split returns the errors that were joined.
func split(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// held reports whether the memory has the session of the hook.
func (r *run) held(ctx context.Context) bool {
	m, err := r.open()
	if err != nil {
		return false
	}
	p, _, err := m.Projects().Locate(ctx, r.p.Cwd)
	if err != nil {
		return false
	}
	s, err := m.Knowledge().SessionOf(ctx, p.ID, r.p.Session)
	return err == nil && s != nil
}

// work does what hooks leave to a process of its own: it folds the spool to its end, catches up where a
// SessionStart could not, and notes which contexts were used.
func (r *run) work(ctx context.Context) error {
	return errors.Join(r.foldToEnd(ctx), r.catchUpPlaces(ctx), r.recordGiven(ctx), r.digestGrown(ctx))
}

// digestGrown makes the digests of what was captured, so that the next start need not.
func (r *run) digestGrown(ctx context.Context) error {
	if len(r.grown) == 0 {
		return nil
	}
	m, err := r.open()
	for i := 0; err == nil && i < len(r.grown); i++ {
		err = m.Handover().MakeDigests(ctx, r.grown[i])
	}
	return err
}

// foldToEnd folds the spool to its end. It waits for the lock, for the hook that has it may be about to be ended.
func (r *run) foldToEnd(ctx context.Context) error {
	for ctx.Err() == nil {
		r.busy = false
		if err := r.fold(ctx, limitOfWork); err != nil || !r.busy {
			return err // what is left could not be read
		}
		select {
		case <-ctx.Done():
		case <-r.tick():
		}
	}
	return nil
}

// tick returns a channel that is closed after a moment.
func (r *run) tick() <-chan struct{} {
	c := make(chan struct{})
	r.After(20*time.Millisecond, func() { close(c) })
	return c
}
