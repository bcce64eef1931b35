package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/disk"
)

// lock locks the spool without waiting. ok is false if another process has the lock.
func (w *World) lock() (unlock func(), ok bool, err error) {
	return disk.TryLock(filepath.Join(w.spool(), "fold.lock"))
}

// drain captures the sessions of all notes in the spool, or sets w.busy if another process does. A hook writes its
// note before it tries the lock, and the owner of the lock reads the spool again after it unlocks, so one of the two
// sees the note. Notes that are left after the time d wait for the next drain.
func (w *World) drain(ctx context.Context, d time.Duration) error {
	end := w.Uptime() + d
	tried := map[string]bool{}
	for {
		unlock, ok, err := w.lock()
		if err != nil || !ok {
			w.busy = true
			return withoutPath(err)
		}
		if w.Prepare != nil {
			go w.Prepare()
		}
		err = w.drainAll(ctx, tried, end)
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

// Notes are captured in steps, which grow while they are quick. Each step is committed: a hook on a busy machine may be
// ended after few of them.
const (
	firstStep = 32
	maxStep   = 256
	quickStep = 60 * time.Millisecond
)

// drainAll captures the notes that were not tried yet. The caller has the lock.
func (w *World) drainAll(ctx context.Context, tried map[string]bool, end time.Duration) (failed error) {
	for step := firstStep; ; {
		begin := w.Uptime()
		notes, err := w.notes(tried, step)
		if err != nil || len(notes) == 0 {
			return errors.Join(failed, err)
		}
		for _, n := range notes {
			tried[n.file] = true
		}
		if err = w.captureNotes(ctx, notes); err != nil && !concernsAll(err) {
			err = w.captureApart(ctx, notes, err, end)
		}
		failed = errors.Join(failed, err)
		if ctx.Err() != nil || concernsAll(err) || w.Uptime() > end {
			return failed
		}
		if w.Uptime()-begin < quickStep {
			step = min(2*step, maxStep)
		}
	}
}

// concernsAll reports whether an error stops the capture of every note: the store cannot be written.
func concernsAll(err error) bool {
	var store *refs.WriteError
	return errors.As(err, &store) || errors.Is(err, refs.ErrLocked)
}

// captureApart captures notes by working directory, after capturing them together failed with err: a damaged project
// does not stop the others.
func (w *World) captureApart(ctx context.Context, notes []note, err error, end time.Duration) error {
	if !slices.ContainsFunc(notes, func(n note) bool { return n.Cwd != notes[0].Cwd }) {
		return err
	}
	var failed error
	for len(notes) > 0 && ctx.Err() == nil && w.Uptime() <= end {
		var same, rest []note
		for _, n := range notes {
			if n.Cwd == notes[0].Cwd {
				same = append(same, n)
			} else {
				rest = append(rest, n)
			}
		}
		failed, notes = errors.Join(failed, w.captureNotes(ctx, same)), rest
	}
	if len(notes) > 0 { // no time was left
		failed = errors.Join(failed, err)
	}
	return failed
}

// retryNote is how long the note of an unreadable file is retried.
const retryNote = 24 * time.Hour

// captureNotes captures the files of the notes and removes the notes that are done.
func (w *World) captureNotes(ctx context.Context, notes []note) error {
	var files []string
	cwds := map[string]string{}
	unknown := map[string]bool{} // existence unknown
	for _, n := range notes {
		for _, path := range n.files() {
			if _, known := cwds[path]; path == "" || known {
				continue
			}
			cwds[path] = n.Cwd
			switch there, err := checkTranscript(projectsOf(cmp.Or(n.Claude, w.Claude)), path); {
			case err != nil:
				w.logError("fold", n.Session, err)
				unknown[path] = !errors.Is(err, errRefused)
			case there:
				files = append(files, path)
			}
		}
	}
	failed, err := w.captureFiles(ctx, files, cwds)
	if err == nil {
		err = w.captureMemories(ctx, notes)
	}
	if err != nil {
		return err
	}
	for _, n := range notes {
		again := slices.ContainsFunc(n.files(), func(f string) bool { return failed[f] || unknown[f] })
		if again && w.Now().Sub(n.Time) < retryNote {
			continue
		}
		if err := remove(n.file); err != nil {
			return fmt.Errorf("remove note: %w", withoutPath(err))
		}
	}
	return nil
}

// files returns the session's file and those of its subagents, which may have grown after SubagentStop.
func (n note) files() []string {
	out := []string{n.Path, n.Agent}
	agents, err := capture.Subagents(n.Path)
	if err != nil {
		return out // the next SessionStart tries again and logs the error
	}
	for _, src := range agents {
		out = append(out, src.Path)
	}
	return out
}

// captureFiles captures changed session files and returns those that could not be read. cwds are the working
// directories of sessions whose files do not name one yet.
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
		if at, ok := stat(f); ok {
			stamps[f] = at
			src := capture.SourceOf(f)
			src.Cwd = cwds[f]
			sources = append(sources, src)
		}
	}
	added, err := capture.Add(ctx, m.DB, sources, capture.AddOptions{Op: "capture", Known: !s.Register,
		Only: s.CaptureProject, Within: func(dir string) bool { return !ignored(dir) }})
	for _, a := range added {
		w.recordStamp(a.Path, stamps[a.Path], string(a.Project.ID))
		if w.worker && !slices.ContainsFunc(w.captured, func(p state.Project) bool { return p.ID == a.Project.ID }) {
			w.captured = append(w.captured, a.Project)
		}
	}
	return w.failures(err, stamps)
}

// failures splits the error of a capture into the files that could not be captured and errors that end the work.
func (w *World) failures(err error, stamps map[string]stamp) (failed map[string]bool, fatal error) {
	failed = map[string]bool{}
	for _, one := range split(err) {
		var src *capture.SourceError
		switch {
		case !errors.As(one, &src):
			fatal = errors.Join(fatal, one)
		case errors.Is(one, state.ErrNotTranscript):
			w.recordStamp(src.Source.Path, stamps[src.Source.Path], noProject)
		case !errors.Is(one, fs.ErrNotExist) || exists(filepath.Split(src.Source.Path)): // something else is missing
			w.logError("capture", src.Source.SessionID(), withoutPath(src.Err))
			failed[src.Source.Path] = true
		}
	}
	return failed, fatal
}

// split returns the parts of a joined error.
func split(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
